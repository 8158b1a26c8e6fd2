public import AsyncAlgorithms
public import PlugProtocol
import ServiceDiscovery

/// Follows every plug of the house: those that are there, those that come, until they go.
public actor HouseFollower {
    public enum Update: Sendable {
        case found(String)
        case report(PlugReport)
        case lost(String)
    }

    /// A plug that is followed by its name, and whose cursor it was given; nil where nobody knew yet who has the name.
    private struct Following {
        let plug: FollowedPlug
        var id: PlugID?
    }

    /// In order for each plug. A reader that is slow slows the reading from the network down; nothing piles up.
    public nonisolated let updates = AsyncChannel<Update>()
    private let client: PlugClient
    private var directory = PlugDirectory()
    private var plugs: [String: Following] = [:]
    private var connected: Set<String> = []
    /// The last event seen of each plug, also of those that are away: what happens meanwhile is delivered or told as a gap.
    /// By id, since two plugs may swap names.
    private var cursors: [PlugID: SequenceNumber]

    /// - Parameter cursors: the last event seen of plugs that were followed before; others are followed from now on.
    public init(_ client: PlugClient, after cursors: [PlugID: SequenceNumber] = [:]) {
        self.client = client
        self.cursors = cursors
    }

    /// Browses and follows until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for await change in client.browse() {
                switch directory.take(change) {
                case .appeared(let name) where plugs[name] == nil:
                    let plug = begin(name, change.plugID)
                    group.addTask {
                        await self.updates.send(.found(name))
                        await self.read(plug)
                    }
                case .appeared(let name), .renewed(let name): await plugs[name]?.plug.locate()
                case .disappeared(let name): await forgetIfAway(name)
                case nil: break
                }
            }
            for following in plugs.values { await following.plug.stop() }
        }
        updates.finish()
    }

    /// The plug of that name, in any spelling of capitals; nil while there is none. One whose announcement ran out while its
    /// connection lives goes by its exact name.
    public func plug(named name: String) -> FollowedPlug? { plugs[directory.match(name) ?? name]?.plug }

    private func begin(_ name: String, _ id: PlugID?) -> FollowedPlug {
        let plug = client.follow(name, after: id.flatMap { cursors[$0] })
        plugs[name] = Following(plug: plug, id: id)
        return plug
    }

    /// Passes on what the plug reports, and what the plug does that takes over its name.
    private func read(_ plug: FollowedPlug) async {
        var next: FollowedPlug? = plug
        while let plug = next {
            next = nil
            for await report in plug.reports {
                if case .connected(let description) = report.update, !isExpected(description.id, report.plug) {
                    await plug.stop()
                    if !Task.isCancelled, plugs[report.plug]?.plug === plug {
                        next = begin(report.plug, description.id)
                    }
                    break
                }
                await take(report)
            }
        }
    }

    /// False when another plug answers than the one whose cursor this following began with: its events have other numbers.
    private func isExpected(_ id: PlugID, _ name: String) -> Bool {
        guard let expected = plugs[name]?.id else {
            plugs[name]?.id = id
            return cursors[id] == nil
        }
        return expected == id
    }

    private func take(_ report: PlugReport) async {
        await updates.send(.report(report))
        switch report.update {
        case .connected: connected.insert(report.plug)
        case .disconnected:
            connected.remove(report.plug)
            await forgetIfAway(report.plug)
        case .following(let sequence): remember(sequence, of: report.plug)
        case .event(let event, _): remember(event.sequence, of: report.plug)
        case .gap(let gap): remember(gap.to, of: report.plug)
        case .snapshot, .state, .commandFinished, .samples: break
        }
    }

    /// Bounded as the directory is, since ids come from the network; beyond it a plug that returns is new.
    private func remember(_ sequence: SequenceNumber, of name: String) {
        guard let id = plugs[name]?.id, cursors[id] != nil || cursors.count < PlugDirectory.limit else { return }
        cursors[id] = sequence
    }

    /// A plug whose announcement ran out but whose connection lives is still there: multicast may be what is broken.
    private func forgetIfAway(_ name: String) async {
        guard !directory.names.contains(name), !connected.contains(name) else { return }
        guard let following = plugs.removeValue(forKey: name) else { return }
        await following.plug.stop()
        await updates.send(.lost(name))
    }
}

extension ServiceChange {
    /// The plug's own id, as far as its announcement has been heard.
    fileprivate var plugID: PlugID? {
        switch self {
        case .found(_, let txt), .changed(_, let txt): txt?["id"].flatMap(PlugID.init(rawValue:))
        case .lost: nil
        }
    }
}
