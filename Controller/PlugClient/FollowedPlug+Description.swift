import LinuxNetwork
import PlugModel

/// The plug's names and settings, and the search for its address.
extension FollowedPlug {
    /// Watches for changes of the plug's address, and calls `locate()` on each change. A change means that the plug
    /// restarted or the network returned. Without this watch, the next attempt may begin half a minute later.
    func locate(on places: @escaping @Sendable (String) -> AsyncStream<Resolution>) {
        self.places = places
        watchPlace()
    }

    private func watchPlace() {
        watchingPlace?.cancel()
        if case .stopped = machine.state { return }
        guard let resolutions = places?(announcedName) else { return }
        watchingPlace = Task { [weak self] in
            for await case .resolved in resolutions { await self?.locate() }
        }
    }

    /// Handles the plug's names at the beginning of a session. The plug may have been renamed while it was away, so the
    /// next search uses its current name. `renames` does not report this change.
    func welcomed(as name: String, given: String) {
        givenName = given
        if let id { introducing.yield(Introduction(plug: id, names: PlugNames(given: given, announced: name))) }
        look(under: name)
    }

    /// Handles names and settings that the plug reported during a session.
    func described(_ name: String?, given: String, _ settings: RemoteSettings?) {
        self.settings = settings
        guard let name else { return }
        look(under: name)
        guard given != givenName else { return }
        givenName = given
        let names = PlugNames(given: given, announced: name)
        if let id { introducing.yield(Introduction(plug: id, names: names)) }
        renaming.yield(names)
    }

    private func look(under name: String) {
        guard name != announcedName, !name.isEmpty else { return }
        announcedName = name
        watchPlace()
    }
}

/// The names that a plug reports for itself.
public struct PlugNames: Hashable, Sendable {
    /// The name that the user gave to the plug.
    public var given: String
    /// The name on the network. It differs from the given name by a numeric suffix while another host uses the given
    /// name.
    public var announced: String

    /// Creates a pair of names.
    public init(given: String, announced: String) {
        self.given = given
        self.announced = announced
    }

    /// Returns the plug's new name at a controller: the given name, or the announced name if another paired plug has
    /// the given name. The current name stays in three cases: the plug reports no given name; both names are taken; or
    /// the given name is taken, and the current name is the given name with or without a numeric suffix.
    ///
    /// - Parameters:
    ///   - known: The current name at this controller.
    ///   - isTaken: Returns true if another paired plug has the name.
    func bound(known: String, isTaken: (String) -> Bool) -> String {
        if given.isEmpty { return known }
        if !isTaken(given) { return given }
        return known == given || known.hasPrefix(given + " (") || isTaken(announced) ? known : announced
    }
}

/// The id and the names that a plug reported in a session.
struct Introduction: Hashable, Sendable {
    var plug: PlugID
    var names: PlugNames
}
