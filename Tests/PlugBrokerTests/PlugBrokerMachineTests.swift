import LinuxSystem
import Metering
import PlugModel
import PlugProtocol
import PlugTopics
import ProtocolCore
import Testing

@testable import PlugBroker

let plug = PlugID(rawValue: "00000000000a")!
let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
let tree = try! TopicTree(prefix: "smartplug", house: "home")
let portrait = PlugPortrait(name: "Lamp", firmware: "1", capabilities: [.relay, .button])

func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

extension PlugBrokerMachine {
    init(after beginning: SequenceNumber, takesCommands: Bool = true, seed: UInt64 = 7) {
        let settings = BrokerMachine.Configuration(
            tree: tree, discovery: try! HomeAssistantDiscovery(), takesCommands: takesCommands)
        self.init(plug, settings, after: beginning, seed: seed)
    }
}

/// A plug's machine with its journal. The broker accepts every message at once.
private struct Bench {
    var machine: PlugBrokerMachine
    var journal: EventJournal
    var now = at(100)
    var wall: WallTime? = WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000)
    var published: [Publication] = []
    var others: [PlugBrokerMachine.Action] = []
    var state = PlugState(relayOn: false)

    init(journal: EventJournal = EventJournal(), after beginning: SequenceNumber = 0) {
        self.journal = journal
        machine = PlugBrokerMachine(after: beginning)
        handle(.started)
    }

    mutating func handle(_ event: PlugBrokerMachine.Event) {
        for action in machine.handle(event, now: now) {
            switch action {
            case .publish(let ticket, let publication):
                published.append(publication)
                handle(.acknowledged(ticket, refusal: nil))
            case .read(let sequence, let limit): handle(.page(journal.page(after: sequence, limit: limit), wall: wall))
            case .readFor(let ticket, let sequence, let limit):
                handle(.replay(ticket, journal.page(after: sequence, limit: limit), wall: wall))
            case .connect, .disconnect, .subscribe, .tell, .keep, .ask: others.append(action)
            }
        }
    }

    mutating func look() {
        handle(
            .looked(
                PlugBrokerMachine.Glance(state: state, portrait: portrait, newest: journal.nextSequence - 1), wall: wall
            ))
    }

    mutating func press() {
        journal.append(.buttonPressed(.single), time: now, boot: boot)
        look()
    }

    mutating func pass(_ time: Duration) {
        let end = now + time
        while let next = machine.nextDeadline, next <= end {
            now = max(now, next)
            handle(.deadlineReached)
        }
        now = end
    }

    mutating func connect() {
        look()
        handle(.connected)
        pass(.seconds(1))
    }

    func texts(_ leaf: String) -> [String] {
        published.filter { $0.topic == "smartplug/home/\(plug)/\(leaf)" }.map(\.payload)
    }

    mutating func ask(_ leaf: String, _ payload: String, at: Double? = 1_700_000_000, isRetained: Bool = false) {
        handle(
            .received(
                BrokerMessage(
                    topic: "smartplug/home/\(plug)/\(leaf)", payload: Array(payload.utf8), isRetained: isRetained,
                    responseTopic: "smartplug/answers/me", correlation: [1], at: at)))
    }

    var asked: [DoorCommand] { others.compactMap { if case .ask(let command) = $0 { command } else { nil } } }
    var answers: [String] { published.filter { $0.topic == "smartplug/answers/me" }.map(\.payload) }
}

@Suite struct PlugBrokerMachineTests {
    @Test("The plug publishes its description before its state and availability")
    func itTellsWhatItIsAndThenThatItIsThere() {
        var bench = Bench()
        bench.connect()
        #expect(
            bench.published.map(\.topic) == [
                "homeassistant/device/smartplug_00000000000a/config", "smartplug/home/00000000000a/about",
                "smartplug/home/00000000000a/state", "smartplug/home/00000000000a/availability",
            ])
        #expect(bench.texts("state") == [#"{"on":false,"tripped":null,"at":"2023-11-14T22:13:20.000Z"}"#])
    }

    /// A reconnected broker gets the events and gaps after the stored position, like a controller that reconnects.
    @Test("Unsent events are read from the journal when the broker is connected") func theJournalIsTheQueue() {
        var bench = Bench(journal: EventJournal(nextSequence: 40), after: 17)
        #expect(bench.others.first == .keep(17), "the start position is stored, so that it survives a kill")
        bench.press()
        bench.now = bench.now + .seconds(60)
        bench.wall = bench.wall.map { $0 + .seconds(60) }
        bench.connect()
        #expect(
            bench.texts("event") == [
                #"{"plug":"00000000000a","seq":39,"at":"2023-11-14T22:14:20.000Z","event":"gap","from":18,"to":39,"reason":"powerLost"}"#,
                #"{"plug":"00000000000a","seq":40,"at":"2023-11-14T22:13:20.000Z","age":60,"event":"button","press":"single"}"#,
            ])
        #expect(bench.others.last == .keep(40))
        bench.press()
        #expect(bench.texts("event").last?.contains(#""seq":41"#) == true)
        #expect(bench.others.last == .keep(41))
    }

    @Test("Without a set clock, events have ages instead of times") func withoutAClockThereAreAgesAndNoTimes() {
        var bench = Bench()
        bench.wall = nil
        bench.press()
        bench.pass(.seconds(2))
        bench.connect()
        #expect(bench.texts("state") == [#"{"on":false,"tripped":null}"#])
        #expect(
            bench.texts("event") == [
                #"{"plug":"00000000000a","seq":1,"age":2,"event":"button","press":"single"}"#
            ])
        bench.ask("set", #"{"on":true,"until":1700000030}"#, at: nil)
        #expect(bench.asked.isEmpty && bench.answers.last?.contains("unsupported") == true)
    }

    @Test("State is published at once when the plug switches, and at most once per second for measurements")
    func aPlugIsToldWhereItSwitchesAndOnceASecondWhereItMeasures() {
        var bench = Bench()
        bench.connect()
        let before = bench.texts("state").count
        for tenth in 1...30 {
            bench.pass(.milliseconds(100))
            bench.state.reading = Reading(time: bench.now, deciwatts: Int32(tenth), milliwattHours: 0)
            bench.look()
        }
        #expect(bench.texts("state").count == before + 3)
        bench.state.relayOn = true
        bench.look()
        bench.pass(.milliseconds(20))
        #expect(bench.texts("state").count == before + 4)
        #expect(bench.texts("state").last?.contains(#""on":true"#) == true)
        bench.state.reading = Reading(time: bench.now, deciwatts: 990, milliwattHours: 0)
        bench.look()
        bench.pass(.seconds(1))
        #expect(bench.texts("state").last?.contains(#""activePower":99"#) == true, "the last measurement is published")
        bench.pass(.seconds(60))
        #expect(bench.texts("state").count == before + 5)
    }

    @Test("A request on the set topic becomes a command to the plug, and the plug's answer is published")
    func aCommandGoesThroughTheDoorAndIsAnswered() {
        var bench = Bench()
        bench.connect()
        bench.ask("set", #"{"on":true}"#)
        guard let command = bench.asked.first else { return #expect(Bool(false), "the plug received no command") }
        #expect(command.command == .setRelay(on: true, autoOff: nil) && command.door == .broker)
        #expect(command.within == .seconds(10))
        bench.handle(.answered(command.ticket, .done(PlugState(relayOn: true), event: 3)))
        #expect(bench.answers == [#"{"plug":"00000000000a","done":true,"on":true,"seq":3}"#])
        bench.ask("set", #"{"on":false}"#, isRetained: true)
        #expect(bench.asked.count == 1 && bench.answers.last?.contains("deadlinePassed") == true)
    }

    @Test("A replay is answered from the journal") func aReplayIsAnsweredFromTheJournal() {
        var bench = Bench(journal: EventJournal(nextSequence: 5))
        for _ in 0..<150 { bench.press() }
        bench.connect()
        bench.ask("replay", #"{"after":2}"#)
        let answer = bench.answers.last ?? ""
        #expect(answer.contains(#""from":3,"to":4"#) && answer.contains(#""more":true"#))
        #expect(answer.split(separator: #""seq":"#).count == 101)
        bench.ask("replay", #"{"after":153}"#)
        #expect(bench.answers.last?.contains(#""more":false"#) == true)
    }
}
