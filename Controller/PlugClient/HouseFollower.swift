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

    /// In order for each plug. A reader that is slow slows the reading from the network down; nothing piles up.
    public nonisolated let updates = AsyncChannel<Update>()
    private let client: PlugClient
    private var directory = PlugDirectory()
    private var plugs: [String: FollowedPlug] = [:]
    private var connected: Set<String> = []
    private let begin: Cursor
    private let stateOptions: StateOptions?
    /// The last event accounted for of each plug that is away: what happens meanwhile is delivered or told as a gap.
    private var known: [PlugID: SequenceNumber]

    /// - Parameters:
    ///   - client: finds and connects the plugs.
    ///   - cursor: where the events of a plug begin that is not among the known.
    ///   - known: the last event seen of plugs by their id.
    ///   - stateOptions: how often a reading is worth sending; nil for no states.
    public init(
        _ client: PlugClient, after cursor: Cursor = .now, known: [PlugID: SequenceNumber] = [:],
        stateOptions: StateOptions? = StateOptions()
    ) {
        self.client = client
        begin = cursor
        self.known = known
        self.stateOptions = stateOptions
    }

    /// Browses and follows until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for await event in client.browse() {
                switch directory.take(event.change) {
                case .appeared(let name), .renewed(let name):
                    if let plug = plugs[name] {
                        await plug.locate()
                        continue
                    }
                    let known = await known(of: name)
                    let plug = client.follow(name, after: begin, known: known, stateOptions: stateOptions)
                    plugs[name] = plug
                    group.addTask {
                        await self.updates.send(.found(name))
                        for await report in plug.reports { await self.take(report) }
                    }
                    group.addTask {
                        for await _ in plug.renames { await self.forget(name) }
                    }
                case .disappeared(let name): await forgetIfAway(name)
                case nil: break
                }
            }
            for plug in plugs.values { await plug.stop() }
        }
        updates.finish()
    }

    /// The plug of that name, in any spelling of capitals; nil while there is none. One whose announcement ran out while its
    /// connection lives goes by its exact name.
    public func plug(named name: String) -> FollowedPlug? { plugs[directory.match(name) ?? name] }

    private func take(_ report: PlugReport) async {
        await updates.send(.report(report))
        switch report.update {
        case .connected: connected.insert(report.plug)
        case .disconnected:
            connected.remove(report.plug)
            await forgetIfAway(report.plug)
        case .following, .snapshot, .state, .event, .gap, .log: break
        }
    }

    /// Bounded as the directory is, since ids come from the network; beyond it a plug that returns is new.
    private func remember(_ sequence: SequenceNumber, of plug: PlugID) {
        guard known[plug] != nil || known.count < PlugDirectory.limit else { return }
        known[plug] = sequence
    }

    /// A plug whose announcement ran out but whose connection lives is still there: multicast may be what is broken.
    private func forgetIfAway(_ name: String) async {
        guard !directory.names.contains(name), !connected.contains(name) else { return }
        await forget(name)
    }

    /// What has been seen of the plugs, with where the one is that may be about to change to this name.
    private func known(of name: String) async -> [PlugID: SequenceNumber] {
        guard let id = directory.id(of: name) else { return known }
        var known = known
        for (other, plug) in plugs where (directory.id(of: other) ?? id) == id {
            if let position = await plug.position, position.plug == id { known[id] = position.last }
        }
        return known
    }

    /// It is away, or has another name now, under which it is found.
    private func forget(_ name: String) async {
        connected.remove(name)
        // Before it is gone: under its other name it may be found while this one ends.
        if let position = await plugs[name]?.position { remember(position.last, of: position.plug) }
        guard let plug = plugs.removeValue(forKey: name) else { return }
        await plug.stop()
        if let position = await plug.position { remember(position.last, of: position.plug) }
        await updates.send(.lost(name))
    }
}
