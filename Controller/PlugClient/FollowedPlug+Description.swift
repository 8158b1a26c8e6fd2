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
    func welcomed(as name: String) { look(under: name) }

    func described(_ name: String?, _ settings: RemoteSettings?) {
        self.settings = settings
        guard let name, look(under: name) else { return }
        renaming.yield(name)
    }

    /// False where that changes nothing.
    @discardableResult
    private func look(under name: String) -> Bool {
        if let id { introducing.yield(Introduction(plug: id, name: name)) }
        guard name != announcedName, !name.isEmpty else { return false }
        announcedName = name
        watchPlace()
        return true
    }
}

/// What a plug says that it is called.
struct Introduction: Hashable, Sendable {
    var plug: PlugID
    var name: String
}
