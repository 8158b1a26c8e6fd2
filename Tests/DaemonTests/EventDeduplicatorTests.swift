import LinuxSystem
import PlugClient
import PlugModel
import ProtocolCore
import Testing

@testable import Daemon

@Suite struct EventsSeenTests {
    private static let lamp = PlugDescription.made("Lamp")
    private let now = Instant.zero + .seconds(1000)

    private func report(_ update: PlugUpdate) -> PlugReport {
        PlugReport(plug: "Lamp", at: WallTime(nanosecondsSince1970: 0), update: update)
    }

    private func event(_ sequence: SequenceNumber, age: Duration? = .zero) -> PlugUpdate {
        let event = PlugEvent(sequence: sequence, boot: Self.lamp.boot, time: .zero, kind: .buttonPressed(.single))
        return .event(event, age: age)
    }

    /// Returns the numbers of the events that passed, the bounds of the gaps, and `after N` for a start after
    /// number N.
    private func heard(_ seen: inout EventDeduplicator, _ updates: [PlugUpdate]) -> [String] {
        updates.flatMap { seen.pass(report($0), now: now) }.compactMap {
            switch $0.update {
            case .event(let event, age: _): "\(event.sequence)"
            case .gap(let gap): "\(gap.from)-\(gap.to)"
            case .following(let sequence): "after \(sequence)"
            case .connected, .snapshot, .state, .log, .disconnected: nil
            }
        }
    }

    @Test("Each plug is followed from the lower of the two positions that the rules and the history have stored")
    func theHouseIsFollowedFromWhereTheSlowerOneEnded() {
        let other = PlugID(rawValue: "00000000000f")!
        let rules: [PlugID: SequenceNumber] = [Self.lamp.id: 5, other: 3]
        #expect(EventDeduplicator.first(rules: rules, history: nil) == rules)
        // All events of a plug that is unknown to the history are requested.
        #expect(EventDeduplicator.first(rules: rules, history: [Self.lamp.id: 4]) == [Self.lamp.id: 4])
        #expect(EventDeduplicator.first(rules: rules, history: [Self.lamp.id: 9]) == [Self.lamp.id: 5])
        #expect(EventDeduplicator.first(rules: [:], history: rules) == rules)
    }

    /// The previous process could not store any event of the plug in the history.
    @Test("For a new plug, the history receives all events and the rules only current ones")
    func ofAPlugThatIsNewTheHistoryHearsAllAndTheRulesWhatHappensNow() {
        let updates: [PlugUpdate] = [
            .connected(Self.lamp), .gap(Gap(from: 1, to: 3, reason: .overwritten)), event(4, age: nil),
            event(5, age: .seconds(20)), event(6, age: .zero),
        ]
        var history = EventDeduplicator([:], start: now)
        #expect(heard(&history, updates) == ["after 3", "4", "5", "6"])
        var rules = EventDeduplicator([:], othersAskForAll: true, start: now - .seconds(2))
        #expect(heard(&rules, updates) == ["after 0", "after 3", "after 4", "after 5", "6"])
        // Observers that know the plug continue after their last event.
        var known = EventDeduplicator([Self.lamp.id: 4], othersAskForAll: true, start: now - .seconds(2))
        #expect(heard(&known, updates) == ["5", "6"])
    }

    @Test("Events up to the known position are dropped") func whatOneHasHadItDoesNotHearAgain() {
        var seen = EventDeduplicator([Self.lamp.id: 7], start: .zero)
        #expect(heard(&seen, [.connected(Self.lamp), event(6), event(7), event(8), event(8), event(9)]) == ["8", "9"])
    }

    @Test("A gap is shortened to the numbers that are new") func ofAGapItHearsWhatIsNew() {
        var seen = EventDeduplicator([Self.lamp.id: 7], start: .zero)
        let updates: [PlugUpdate] = [
            .connected(Self.lamp), .gap(Gap(from: 3, to: 6, reason: .overwritten)),
            .gap(Gap(from: 7, to: 9, reason: .powerLost)), event(9), event(10),
        ]
        #expect(heard(&seen, updates) == ["8-9", "10"])
    }

    @Test("If the plug's journal does not know the cursor, its events are accepted from the first one")
    func aJournalThatKnowsNoCursorBeginsAnew() {
        var seen = EventDeduplicator([Self.lamp.id: 700], start: .zero)
        let updates: [PlugUpdate] = [
            .connected(Self.lamp), .gap(Gap(from: 1, to: 3, reason: .unknownCursor)), event(4),
        ]
        #expect(heard(&seen, updates) == ["1-3", "4"])
    }

    /// Rules without stored state must not act on events that a previous process may have handled.
    @Test("If only other observers know a plug, only its current events pass")
    func aPlugThatOnlyTheOthersKnowBeginsNow() {
        var seen = EventDeduplicator([:], others: [Self.lamp.id: 20], start: now - .seconds(2))
        let updates: [PlugUpdate] = [
            .connected(Self.lamp), event(21, age: nil), event(22, age: .seconds(3)), event(23, age: .seconds(1)),
        ]
        #expect(heard(&seen, updates) == ["after 20", "after 21", "after 22", "23"])
    }

    @Test("The events of an unknown plug pass from the position that the plug reports")
    func aPlugThatNobodyKnowsBeginsWhereThePlugSays() {
        var seen = EventDeduplicator([:], start: now)
        let updates: [PlugUpdate] = [.connected(Self.lamp), .following(after: 4), event(5, age: .seconds(9))]
        #expect(heard(&seen, updates) == ["after 4", "5"])
    }
}
