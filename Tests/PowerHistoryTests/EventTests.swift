import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct EventTests {
    private let directory: TestFolder
    private let history: PowerHistory

    init() throws {
        directory = TestFolder(on: .memory)
        history = try PowerHistory(directory.path, role: .recorder)
    }

    private func event(_ sequence: SequenceNumber, _ kind: PlugEvent.Kind, of plug: PlugID = lamp) -> StoredEvent {
        let event = PlugEvent(
            sequence: sequence, boot: firstBoot, time: Instant(nanoseconds: Int64(sequence % 1000) * 1_500_000),
            kind: kind)
        return StoredEvent(
            plug: plug, content: .event(event), at: midnight + Int64(sequence % 1000), isTimeKnown: sequence % 2 == 0)
    }

    private func gap(_ from: SequenceNumber, _ to: SequenceNumber, _ reason: Gap.Reason) -> StoredEvent {
        StoredEvent(
            plug: lamp, content: .gap(Gap(from: from, to: to, reason: reason)), at: midnight + Int64(to),
            isTimeKnown: false)
    }

    @Test("Every kind of event is read back complete") func everyEventComesBackInFull() throws {
        let request = try #require(RequestID(bytes: Array(repeating: 9, count: 16)))
        let causes: [RelayCause] = [
            .button, .controller(name: "Kitchen ☕", request: request), .protection, .timer, .powerOn,
        ]
        var kinds: [PlugEvent.Kind] = causes.map { .relayChanged(on: true, cause: $0) }
        kinds += ButtonPress.allCases.map { .buttonPressed($0) }
        kinds += Protection.allCases.map { .protectionTripped($0) }
        kinds += [
            .relayChanged(on: false, cause: .button), .protectionReset(.weldedRelay, cause: .button),
            .restarted(powerLost: true), .restarted(powerLost: false), .pairingFailed(failures: .max),
            .controllerPaired(name: ""), .controllerRemoved(name: "Desk"),
        ]
        var events = kinds.enumerated().map { event(SequenceNumber($0 + 1), $1) }
        events += Gap.Reason.allCases.enumerated().map { gap(UInt64(100 + $0), UInt64(200 + $0), $1) }
        var batch = HistoryBatch()
        batch.events = events
        try history.record(batch)
        #expect(try history.events(of: lamp, from: midnight, to: .max) == events)
        // Storing the batch again changes nothing.
        try history.record(batch)
        #expect(try history.events(of: nil, from: 0, to: .max) == events)
        #expect(try history.events(of: nil, from: 0, to: .max, newest: 2) == Array(events.suffix(2)))
        #expect(try history.events(of: nil, from: midnight + 3, to: midnight + 4).count == 2)
        #expect(try history.events(of: fridge, from: 0, to: .max).isEmpty)
    }

    @Test("The cursor is the last stored sequence number") func theCursorIsTheLastThatWasStored() throws {
        #expect(try history.cursors().isEmpty)
        func store(_ events: [StoredEvent]) throws -> [PlugID: SequenceNumber] {
            var batch = HistoryBatch()
            batch.events = events
            try history.record(batch)
            return try history.cursors()
        }
        #expect(try store([event(7, .buttonPressed(.single)), event(8, .buttonPressed(.long))]) == [lamp: 8])
        #expect(try store([event(7, .buttonPressed(.single))]) == [lamp: 8])
        #expect(try store([gap(9, 50, .powerLost)]) == [lamp: 50])
        #expect(try store([event(1 << 63, .restarted(powerLost: true), of: fridge)]) == [lamp: 50, fridge: 1 << 63])
        // The plug started a new journal with smaller numbers.
        #expect(try store([gap(1, 3, .unknownCursor), event(4, .buttonPressed(.double))])[lamp] == 4)
    }

    @Test("Firings are returned in ascending order of time") func firingsComeBackByTime() throws {
        let firings = [
            StoredFiring(at: midnight, rule: "Movie night", plug: lamp, cause: "rose above 40 W"),
            StoredFiring(at: midnight + 5, rule: "Evening", plug: nil, cause: "it was 18:00"),
        ]
        var batch = HistoryBatch()
        batch.firings = firings.reversed()
        try history.record(batch)
        try history.record(batch)
        #expect(try history.firings(from: 0, to: .max) == firings)
        #expect(try history.firings(from: midnight + 1, to: .max) == [firings[1]])
        #expect(try history.firings(from: 0, to: .max, newest: 1) == [firings[1]])
    }

    @Test("A plug is found by its name or its id") func aPlugIsFoundAsAPersonNamesIt() throws {
        var batch = HistoryBatch()
        let old = try #require(PlugID(rawValue: "00000000a0ff"))
        batch.names = [lamp: "Floor Lamp", fridge: "Fridge", old: "Fridge"]
        batch.chunks =
            chunks(of: fridge, from: 500, count: 20) { _ in 1 } + chunks(of: old, from: 100, count: 20) { _ in 1 }
        try history.record(batch)
        #expect(try history.plug(named: "floor lamp").id == lamp)
        #expect(try history.plug(named: "00000000A001").name == "Floor Lamp")
        // If a plug was replaced, its name selects the plug with the newest sample.
        #expect(try history.plug(named: "Fridge").id == fridge)
        #expect(try history.plug(named: "Fridge").span == midnight + 500_000...midnight + 519_000)
        #expect(try history.plug(named: "00000000a0ff").id == old)
        // The name of a paired plug without history does not select a different plug.
        let paired = [PlugID(rawValue: "bbbbbbbbbbbb")!: "floor lamp", lamp: "Floor Lamp"]
        #expect(try history.plug(named: "Floor Lamp", paired: paired).id == lamp)
        for name in ["floor lamp", "FLOOR LAMP"] {
            #expect(throws: HistoryError.self) { try history.plug(named: name, paired: paired) }
        }
        let error = #expect(throws: HistoryError.self) { try history.plug(named: "Flor Lamp") }
        #expect(error?.reason == .unknownPlug("Flor Lamp", suggestions: ["Floor Lamp"]))
        #expect(error?.hint == "did you mean \"Floor Lamp\"?")
        batch = HistoryBatch()
        batch.names = [old: "FRIDGE"]
        try history.record(batch)
        #expect(try history.plug(named: "FRIDGE").id == old)
        let ambiguous = #expect(throws: HistoryError.self) { try history.plug(named: "fridge") }
        #expect(ambiguous?.reason == .ambiguous("fridge", plugs: ["00000000a0ff", "00000000a002"]))
        #expect(try history.plugs().map(\.title) == ["FRIDGE", "Floor Lamp", "Fridge"])
    }
}
