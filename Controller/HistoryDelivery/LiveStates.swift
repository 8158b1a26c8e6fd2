public import Daemon
import LinuxSystem
public import PlugClient
import PlugModel
public import RuleModel
import Synchronization

/// The latest state of each plug for a database. A newer state replaces one that was not fetched.
public final class LiveStates: HouseObserver {
    /// The maximum number of plugs. Only paired plugs connect, so a house has far fewer. The limit bounds the memory in
    /// any case.
    private static let limit = 10_000

    struct State: Hashable, Sendable {
        var name: String
        var firmware: String
        var isConnected: Bool
        var seen: WallTime
        var plug: PlugState?
    }

    fileprivate struct House {
        var ids: [String: PlugID] = [:]
        var states: [PlugID: State] = [:]
        var changed: Set<PlugID> = []
    }

    private let house = Mutex(House())

    /// Creates an empty list.
    public init() {}

    /// Does nothing: rules have no live states.
    public func note(_ record: RunnerRecord) {}
    /// Does nothing: rules have no live states.
    public func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {}

    /// Handles an update of the house.
    public func handle(_ update: HouseFollower.Update) {
        guard case .report(let report) = update else { return }
        house.withLock { house in
            switch report.update {
            case .connected(let description):
                guard house.states.count < Self.limit || house.states[description.id] != nil else { return }
                house.ids[report.plug] = description.id
                let before = house.states[description.id]
                house.states[description.id] = State(
                    name: report.plug, firmware: description.firmware, isConnected: true, seen: report.at,
                    plug: before?.plug)
                house.changed.insert(description.id)
            case .snapshot(let state), .state(let state):
                house.change(report) { $0.plug = state }
            case .event(let event, _):
                house.change(report) { if case .relayChanged(let isOn, _) = event.kind { $0.plug?.relayOn = isOn } }
            case .disconnected:
                house.change(report) { $0.isConnected = false }
                house.ids[report.plug] = nil
            case .gap, .following, .log: break
            }
        }
    }

    /// Returns the states that changed since the last call.
    func takeChanged() -> [PlugID: State] {
        house.withLock { house in
            defer { house.changed = [] }
            return house.states.filter { house.changed.contains($0.key) }
        }
    }

    /// Marks all states as changed, so that a database that was just connected receives them.
    func allChanged() {
        house.withLock { $0.changed = Set($0.states.keys) }
    }
}

extension LiveStates.House {
    fileprivate mutating func change(_ report: PlugReport, _ body: (inout LiveStates.State) -> Void) {
        guard let plug = ids[report.plug], var state = states[plug] else { return }
        body(&state)
        // A disconnection does not update the time of the plug's last contact.
        if state.isConnected { state.seen = report.at }
        states[plug] = state
        changed.insert(plug)
    }
}
