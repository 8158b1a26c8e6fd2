import DurableRules
import LinuxSystem
import PlugClient
import PlugModel
import Presentation
import ProtocolCore
import RuleFiles
import RuleModel

extension FuzzTarget {
    /// Sends the bytes of a paired plug to a house. The house follows the plug, runs rules, formats the updates as
    /// `plugctl watch` does, and stores the durable state. A second rule engine starts from that state and receives the
    /// same reports again.
    static let followedHouse = FuzzTarget(
        name: "followed-house",
        seeds: { recorded { $0.fromPlug } },
        check: { bytes in
            let reports = FollowedBytes(bytes).reports
            var first = RuledReports(memory: StoredRuleState())
            try first.hear(reports)
            var next = RuledReports(memory: try first.stored())
            try next.hear(reports)
            _ = try next.stored()
            try tell(reports)
            return !reports.isEmpty
        })

    /// Formats the reports as `plugctl watch` does.
    private static func tell(_ reports: [PlugReport]) throws {
        var previous: PlugState?
        for report in reports {
            for record in WatchRecord.records(of: report, previous: previous) {
                let line = jsonLine(record)
                let isPlain = line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
                try require(isPlain, "a control character in '\(line)'")
            }
            switch report.update {
            case .state(let state), .snapshot(let state): previous = state
            case .connected, .following, .event, .gap, .log, .disconnected: break
            }
        }
    }
}

/// The reports of a follower whose plug sends these bytes.
private struct FollowedBytes {
    private(set) var reports: [PlugReport] = []

    init(_ bytes: [UInt8]) {
        let connection = ConnectionID(rawValue: 1)
        var follower = PlugFollower(
            controllerName: "Desk", cursor: .after(Guest.cursor), stateOptions: StateOptions(), seed: 1)
        for event in [
            PlugFollower.Event.located, .opened(connection), .fetch(Guest.fetch, from: .zero, to: FuzzedPlug.now),
            .followLog(.debug, until: FuzzedPlug.now + .seconds(10)), .received(bytes, on: connection),
            .closed(connection),
        ] {
            for case .deliver(let update) in follower.handle(event, now: FuzzedPlug.now) {
                reports.append(PlugReport(plug: "Lamp", at: Self.wall(of: update), update: update))
            }
        }
    }

    private static func wall(of update: PlugUpdate) -> WallTime {
        let now = WallTime(nanosecondsSince1970: 1_800_000_000_000_000_000)
        guard case .event(_, let age?) = update else { return now }
        return now - age
    }
}

/// The rules of a house that receives reports, with their stored state.
struct RuledReports {
    /// A rule for each kind of trigger that a plug's bytes can fire.
    static let rules: [Rule] = {
        let text = """
            - { rule: Press, when: { plug: Lamp, button: single }, then: { toggle: Lamp } }
            - { rule: Relay, when: { plug: Lamp, relay: on }, then: { turn off: Lamp } }
            - { rule: Power, when: { plug: Lamp, active power: { rises above: 1 W } }, then: { turn off: Lamp } }
            - { rule: Energy, when: { plug: Lamp, active energy: { exceeds: 1 Wh, since: day } }, then: { turn off: Lamp } }
            - { rule: Total, when: { plug: Lamp, active energy: { exceeds: 1 Wh, since: on } }, then: { turn off: Lamp } }
            - { rule: Lost, when: { plug: Lamp, connection: lost }, then: { turn on: Lamp } }
            - { rule: Trip, when: { plug: Lamp, protection: tripped }, then: { turn on: Lamp } }
            """
        do throws(RuleFileError) {
            return try RuleFile(name: "rules.yaml", text: text).rules
        } catch {
            preconditionFailure("the rules are rejected: \(error)")
        }
    }()
    private static let moment = HostMoment(
        boot: FuzzedPlug.boot, instant: FuzzedPlug.now, nanosecondsSince1970: 1_800_000_000_000_000_000)

    private var machine: DurableRuleEngine
    private var commands: Set<RequestID> = []

    init(memory: StoredRuleState) {
        machine = DurableRuleEngine(rules: Self.rules, memory: memory, now: FuzzedPlug.now)
    }

    mutating func hear(_ reports: [PlugReport]) throws(FuzzFailure) {
        let time = LocalTime(pieces: [.init(from: Instant(nanoseconds: .min), offset: 1_800_000_000)])
        try handle(.clockChanged(time, .unknown))
        for report in reports { if let event = Self.event(of: report.update) { try handle(event) } }
        try handle(.stopping)
    }

    /// The state that the next process reads.
    func stored() throws -> StoredRuleState {
        try StoredRuleState(decoding: machine.memory.encoded(at: Self.moment), at: Self.moment)
    }

    private mutating func handle(_ event: DurableRuleEvent) throws(FuzzFailure) {
        var events = [event][...]
        while let event = events.popFirst() {
            for action in machine.handle(event, now: FuzzedPlug.now) {
                switch action {
                case .store: events.append(.stored)
                case .send(let request):
                    try require(commands.insert(request.id).inserted, "\(request) is sent twice")
                    events.append(.commandFinished(request.id, .done(PlugState(relayOn: true), event: nil)))
                case .withdraw, .perform, .call, .acknowledge, .tell: break
                }
            }
        }
    }

    private static func event(of update: PlugUpdate) -> DurableRuleEvent? {
        let plug = "Lamp"
        switch update {
        case .connected(let description): return .connected(plug: plug, id: description.id, boot: description.boot)
        case .following(let sequence): return .following(plug: plug, after: sequence)
        case .snapshot(let state): return .snapshot(plug: plug, state)
        case .state(let state): return .state(plug: plug, state)
        case .event(let event, let age): return .event(plug: plug, event, age: age)
        case .gap(let gap): return .gap(plug: plug, gap)
        case .disconnected: return .disconnected(plug: plug)
        case .log: return nil
        }
    }
}
