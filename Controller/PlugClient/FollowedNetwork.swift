import LinuxNetwork
import NIOCore
import Synchronization

/// Notifies all followed plugs when the host's network changes. Each plug then checks its connection, because the
/// kernel reports a broken connection only after data is sent.
final class FollowedNetwork: Sendable {
    private struct WeakPlug: Sendable {
        weak var plug: FollowedPlug?
    }

    private let plugs = Mutex<[WeakPlug]>([])
    private let watching: Mutex<Task<Void, any Error>?>

    init(_ interfaces: InterfaceFilter, on eventLoop: any EventLoop) {
        watching = Mutex(nil)
        let task = Task { [weak self] in
            var isFirst = true
            for try await _ in InterfaceMonitor.interfaces(interfaces, on: eventLoop) {
                if !isFirst { await self?.check() }
                isFirst = false
            }
        }
        watching.withLock { $0 = task }
    }

    /// Adds a plug, which is held weakly.
    func add(_ plug: FollowedPlug) {
        plugs.withLock { plugs in
            plugs.removeAll { $0.plug == nil }
            plugs.append(WeakPlug(plug: plug))
        }
    }

    /// Stops watching the network and stops all plugs.
    func stop() async {
        watching.withLock { $0?.cancel() }
        for plug in followed { await plug.stop() }
    }

    /// Makes each plug check its connection.
    func check() async {
        for plug in followed { await plug.locate() }
    }

    private var followed: [FollowedPlug] { plugs.withLock { $0.compactMap(\.plug) } }
}
