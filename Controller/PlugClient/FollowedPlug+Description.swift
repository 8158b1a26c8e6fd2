import LinuxNetwork
import PlugProtocol

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

    func described(_ name: String?, _ settings: RemoteSettings?) {
        self.settings = settings
        guard let name, name != announcedName else { return }
        announcedName = name
        renaming.yield(name)
        watchPlace()
    }
}
