import LinuxNetwork
import PlugModel

/// Under which name the plug is looked for, and what it says about itself while it is connected.
extension FollowedPlug {
    /// Looks at once whenever the plug turns out to be at another place: it restarted, or the network came back. The next
    /// attempt might be half a minute away.
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

    /// It was found under another name, perhaps, and took this one while it was away: the next search is for this one. Whoever
    /// follows it knows nothing of a change.
    func welcomed(as name: String, given: String) {
        givenName = given
        if let id { introducing.yield(Introduction(plug: id, names: PlugNames(given: given, announced: name))) }
        look(under: name)
    }

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

/// What a plug is called, as it says itself.
public struct PlugNames: Hashable, Sendable {
    /// By a person.
    public var given: String
    /// On the network: with a number behind it while another host has the given one.
    public var announced: String

    public init(given: String, announced: String) {
        self.given = given
        self.announced = announced
    }

    /// The name by which a controller knows the plug from then on. The name of another plug that is paired stays with that one; then it is
    /// the announced one, and stays that however the number changes.
    ///
    /// - Parameters:
    ///   - known: the name so far.
    ///   - isTaken: whether another paired plug has it.
    func bound(known: String, isTaken: (String) -> Bool) -> String {
        if given.isEmpty { return known }
        if !isTaken(given) { return given }
        return known == given || known.hasPrefix(given + " (") || isTaken(announced) ? known : announced
    }
}

struct Introduction: Hashable, Sendable {
    var plug: PlugID
    var names: PlugNames
}
