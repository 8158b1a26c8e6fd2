import LinuxSystem
import PlugClient
import PlugModel
import Presentation
import Testing

@testable import Dashboard

@Suite struct HouseBoardTests {
    private var board = HouseBoard()

    @Test("A connected plug is reported, and then its state")
    mutating func aPlugThatComesIsToldAndThenItsState() {
        #expect(board.handle(.found("Lamp")).isEmpty)
        let messages = board.hear(connected())
        #expect(messages.map(\.kind) == ["plug", "event"])
        _ = board.hear(.snapshot(state(level: 40)))
        let record = board.records[0]
        #expect(record.state == "connected" && record.on == true && record.level == 40)
        #expect(record.capabilities == ["dimmer", "meter", "relay"] && record.id == lampID.rawValue)
        #expect(record.reading?.activePower == 60.4 && record.reason == nil)
        #expect(board.counters[lampID].map { Double($0.milliwattHours) / 1000 } == record.reading?.activeEnergy)
    }

    @Test("Readings are batched, and other changes are reported at once")
    mutating func readingsWaitAndTheRestDoesNot() {
        _ = board.hear(connected())
        _ = board.hear(.snapshot(state(watts: 10)))
        #expect(board.hear(.state(state(watts: 11))).isEmpty)
        #expect(board.hear(.state(state(watts: 12)), after: .milliseconds(100)).isEmpty)
        guard case .readings(let readings)? = board.takeReadings() else { return #expect(Bool(false), "no readings") }
        #expect(readings.map(\.activePower) == [12])
        #expect(board.takeReadings() == nil)
        #expect(board.hear(.state(state(on: false, watts: 0))).map(\.kind) == ["plug"])
        #expect(board.hear(.state(state(on: false, watts: nil))).map(\.kind) == ["plug"])
        #expect(board.records[0].reading == nil)
    }

    @Test("A change of the sleepers is reported once, and a disconnected plug has none")
    mutating func sleepers() {
        _ = board.hear(connected())
        _ = board.hear(.snapshot(state(watts: 10)))
        var asleep = state(watts: 11)
        asleep.sleepers = [PlugSleeper(host: "nas.local", card: "02:00:00:00:00:10", asleepSince: .zero, sleeps: 1)]
        #expect(board.hear(.state(asleep)).map(\.kind) == ["plug"])
        // Readings of later seconds, with the same list.
        #expect(board.hear(.state(asleep), after: .milliseconds(1234)).isEmpty)
        #expect(board.records[0].sleepers?.map(\.asleepSince) == [moment.iso8601()])
        _ = board.hear(.disconnected(reason: .away("connection lost"), retryIn: .zero))
        #expect(board.records[0].sleepers == nil)
    }

    @Test("An event is reported once, also after a restart")
    mutating func anEventIsToldOnceAlsoAfterARestart() {
        _ = board.begin(paired: [:], reported: [lampID: 5])
        _ = board.hear(connected())
        #expect(board.hear(event(4)).isEmpty && board.hear(event(5)).isEmpty)
        #expect(board.hear(event(6)).map(\.kind) == ["event"])
        #expect(board.hear(event(6)).isEmpty)
        #expect(board.hear(.gap(Gap(from: 1, to: 6, reason: .overwritten))).isEmpty)
        #expect(board.hear(.gap(Gap(from: 7, to: 9, reason: .overwritten))).count == 1)
        #expect(board.hear(event(8)).isEmpty)
        // The plug's journal starts again with lower numbers.
        #expect(board.hear(.gap(Gap(from: 0, to: 2, reason: .unknownCursor))).count == 1)
        #expect(board.hear(event(3)).count == 1)
        #expect(board.recentEvents.events.map(\.record.seq) == [6, nil, nil, 3])
    }

    @Test("A paired plug that is not announced or not connected is listed as away")
    mutating func aPlugThatIsPairedAndNotThereIsAway() {
        let messages = board.begin(paired: [lampID: "Lamp"], reported: [:])
        #expect(messages.map(\.plug) == ["Lamp"])
        #expect(board.records[0].state == "away" && board.records[0].reason == PlugRecord.notAnnounced)
        _ = board.hear(connected())
        _ = board.hear(.snapshot(state()))
        let gone = board.hear(.disconnected(reason: .away("connection lost\nhint: look"), retryIn: .zero))
        #expect(gone.map(\.kind) == ["plug", "event"])
        #expect(board.records[0].state == "away" && board.records[0].reason == "connection lost")
        #expect(board.records[0].on == nil && board.takeReadings() == nil)
        // Repeated connection failures are not reported.
        #expect(board.hear(.disconnected(reason: .away("connection lost"), retryIn: .zero)).isEmpty)
        #expect(board.handle(.lost("Lamp")).map(\.kind) == ["plug"])
        #expect(board.know([:]).map(\.kind) == ["gone"])
        #expect(board.records.isEmpty)
    }

    @Test("An unpaired plug is listed while it is announced")
    mutating func aStrangerIsShownWhileItIsThere() {
        let words = "the plug is not paired with this controller\nhint: plugctl pair"
        _ = board.hear(.disconnected(reason: .distrusted(words), retryIn: .zero))
        #expect(board.records[0].state == "stranger")
        #expect(board.records[0].reason == "the plug is not paired with this controller")
        #expect(board.know([kettleID: "Kettle"]).map(\.plug) == ["Kettle"])
        #expect(board.handle(.lost("Lamp")) == [.gone(plug: "Lamp")])
        #expect(board.records.map(\.plug) == ["Kettle"])
    }

    @Test("A paired plug is listed again when an unpaired plug with the same name has disappeared")
    mutating func aStrangerUnderTheNameOfAPairedPlugLeavesItsPlace() {
        _ = board.begin(paired: [lampID: "Lamp"], reported: [:])
        _ = board.hear(.disconnected(reason: .distrusted("it is another"), retryIn: .zero))
        #expect(board.records.map(\.state) == ["stranger"])
        _ = board.handle(.lost("Lamp"))
        #expect(board.records.map(\.state) == ["away"])
    }

    @Test("A renamed plug is listed once")
    mutating func aRenamedPlugIsOne() {
        _ = board.begin(paired: [lampID: "Lamp"], reported: [:])
        _ = board.hear(connected())
        _ = board.hear(.snapshot(state()))
        let messages = board.hear(connected(), of: "Desk Lamp")
        #expect(messages[0] == .gone(plug: "Lamp"))
        #expect(board.records.map(\.plug) == ["Desk Lamp"])
        // Updates of the old connection are ignored.
        #expect(board.hear(.state(state(on: false))).isEmpty)
        #expect(board.hear(.disconnected(reason: .away("x"), retryIn: .zero)).isEmpty)
        #expect(board.handle(.lost("Lamp")).isEmpty)
        #expect(board.know([lampID: "Lamp"]).isEmpty)
        #expect(board.records.map(\.plug) == ["Desk Lamp"])
        // The plug gets its former name again.
        #expect(board.hear(connected(), of: "Lamp")[0] == .gone(plug: "Desk Lamp"))
    }

    @Test("A different plug with the same name has no earlier readings")
    mutating func anotherPlugUnderTheSameNameBeginsAnew() {
        _ = board.hear(connected())
        _ = board.hear(.snapshot(state(level: 30)))
        _ = board.hear(.disconnected(reason: .away("x"), retryIn: .zero))
        _ = board.hear(connected(kettleID, [.relay]))
        #expect(board.records.map(\.id) == [kettleID.rawValue])
        #expect(board.plugs["Lamp"]?.recent.count == 0)
    }

    @Test("The number of listed plugs is limited")
    mutating func aNetworkOfEverNewNamesFillsNothing() {
        for number in 0..<HouseBoard.limit + 50 {
            _ = board.hear(.disconnected(reason: .distrusted("stranger"), retryIn: .zero), of: "Plug \(number)")
        }
        #expect(board.records.count == HouseBoard.limit)
    }

    @Test("A plug is found by id, then by exact name, then by a name that differs only in capitals")
    mutating func plugsAreFoundByIdThenNameThenWithoutCapitals() {
        _ = board.hear(connected(), of: "Lamp")
        _ = board.hear(connected(kettleID), of: "lamp")
        #expect(board.plug(named: kettleID.rawValue)?.record.plug == "lamp")
        #expect(board.plug(named: "Lamp")?.id == lampID)
        #expect(board.plug(named: "LAMP") == nil)
        _ = board.know([lampID: "Lamp"])
        _ = board.handle(.lost("lamp"))
        #expect(board.plug(named: "LAMP")?.id == lampID)
    }

    @Test("The name of a disconnected paired plug does not match a plug whose name differs only in capitals")
    mutating func pairedName() {
        _ = board.hear(connected(kettleID), of: "lamp")
        _ = board.know([lampID: "Lamp", kettleID: "lamp"])
        #expect(board.plug(named: "lamp")?.id == kettleID)
        #expect(board.plug(named: "Lamp")?.id == lampID)
        #expect(board.plug(named: "LAMP") == nil)
    }
}
