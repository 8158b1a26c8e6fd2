import JSONText
import PlugModel
import ProtocolCore
import Testing

@testable import PlugTopics

/// A broker machine and the actions that it returned.
struct Door {
    static let tree = try! TopicTree(prefix: "smartplug", house: "home")
    static let lamp = PlugID(rawValue: "00000000000a")!
    static let portrait = PlugPortrait(name: "Lamp", firmware: "1", capabilities: [.relay, .button])

    var machine: BrokerMachine
    var now = Instant.zero
    var actions: [BrokerMachine.Action] = []

    init(
        servers: Int = 1, takesCommands: Bool = true, updatesSystems: Bool = false, known: Set<PlugID> = [],
        newest: UInt64 = 0, after: UInt64 = 0
    ) {
        let configuration = BrokerMachine.Configuration(
            tree: Self.tree, discovery: try! HomeAssistantDiscovery(), servers: servers, takesCommands: takesCommands,
            updatesSystems: updatesSystems)
        machine = BrokerMachine(configuration, known: known, after: after, newest: newest, seed: 7)
    }

    mutating func handle(_ event: BrokerMachine.Event) { actions += machine.handle(event, now: now) }

    /// Waits for the gathering time and returns the publications since the previous call. The broker acknowledges them
    /// if `isTaken`.
    mutating func published(isTaken: Bool = true) -> [Publication] {
        pass(BrokerMachine.gathering)
        var all: [Publication] = []
        while true {
            let new = actions.compactMap { action -> (BrokerTicket, Publication)? in
                if case .publish(let ticket, let publication) = action { (ticket, publication) } else { nil }
            }
            actions.removeAll { if case .publish = $0 { true } else { false } }
            guard !new.isEmpty else { return all }
            all += new.map(\.1)
            if isTaken { for (ticket, _) in new { handle(.acknowledged(ticket, refusal: nil)) } }
        }
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
        handle(.started)
        handle(.connected)
    }

    mutating func meetLamp() {
        handle(.met(Self.lamp, Self.portrait))
        handle(.state(Self.lamp, PlugState(relayOn: false), at: "T"))
    }

    mutating func request(_ payload: String, retained: Bool = false, expiry: UInt32? = nil, correlation: String = "1") {
        handle(
            .received(
                BrokerMessage(
                    topic: Self.tree.topic(.set, of: Self.lamp), payload: Array(payload.utf8), isRetained: retained,
                    responseTopic: "smartplug/answers/me", correlation: Array(correlation.utf8), expiry: expiry,
                    at: 1000)))
    }

    var commands: [(BrokerTicket, PlugCommand, RequestID)] {
        actions.compactMap {
            if case .command(let ticket, _, let command, let id, _) = $0 { (ticket, command, id) } else { nil }
        }
    }
}

func pressed(_ position: UInt64, of plug: PlugID = Door.lamp) -> QueuedEvent {
    QueuedEvent(position: position, plug: plug, sequence: position, payload: "{\"seq\":\(position)}")
}

@Suite struct BrokerMachineTests {
    @Test("A plug's description and state are published before its availability")
    func aPlugIsDescribedBeforeItIsThere() {
        var door = Door()
        door.meetLamp()
        door.connect()
        #expect(
            door.published().map(\.topic) == [
                "smartplug/home/availability", "homeassistant/device/smartplug_00000000000a/config",
                "smartplug/home/00000000000a/about", "smartplug/home/00000000000a/state",
                "smartplug/home/00000000000a/availability",
            ])
    }

    /// Fault class: two programs with the same identity take the session from each other forever.
    @Test("After a takeover of its session, the machine pauses before it reconnects")
    func aSessionThatAnotherTookOverIsLeftToItForAWhile() {
        var door = Door()
        door.connect()
        door.meetLamp()
        _ = door.published()
        door.actions = []
        door.handle(.takenOver)
        #expect(door.actions == [.tell(.takenOver)])
        door.handle(.state(Door.lamp, PlugState(relayOn: true), at: "U"))
        door.pass(Reconnection.contestPause - .milliseconds(1))
        #expect(door.actions == [.tell(.takenOver)])
        door.pass(.milliseconds(1))
        #expect(door.actions.last == .connect(server: 0))
    }

    /// mosquitto 2.0 closes the connection without a reason when a second program takes over the session.
    @Test("Connections that end early are reported once and retried with growing pauses")
    func connectionsThatEndAsSoonAsTheyBeginAreToldAndTriedEverMoreSeldom() {
        var door = Door()
        var waits: [Duration] = []
        for _ in 0..<6 {
            door.connect()
            door.pass(Reconnection.steadiness - .milliseconds(1))
            door.handle(.disconnected(reason: "lost"))
            waits.append((door.machine.nextDeadline ?? .zero) - door.now)
        }
        #expect(zip(waits, waits.dropFirst(2)).allSatisfy { $0 < $1 }, "\(waits)")
        #expect(door.actions.filter { $0 == .tell(.unsteady) }.count == 1)
        door.connect()
        door.pass(Reconnection.steadiness)
        door.handle(.disconnected(reason: "lost"))
        #expect((door.machine.nextDeadline ?? .zero) - door.now <= .milliseconds(250))
    }

    @Test("An event is published only after the settling time that follows the plug's availability")
    func aPressWaitsUntilTheAvailabilityHasSettled() {
        var door = Door()
        door.connect()
        door.meetLamp()
        door.handle(.happened(pressed(1)))
        #expect(!door.published().contains { $0.topic.hasSuffix("/event") })
        door.pass(BrokerMachine.settling - BrokerMachine.gathering - .milliseconds(1))
        #expect(door.published().isEmpty)
        door.pass(.milliseconds(1))
        #expect(door.published().map(\.topic) == ["smartplug/home/00000000000a/event"])
        #expect(door.actions.contains(.keep(1)))
        // Later events are published immediately.
        door.handle(.happened(pressed(2)))
        let next = door.published()
        #expect(next.map(\.payload) == ["{\"seq\":2}"])
        #expect(next.allSatisfy { !$0.isRetained })
    }

    @Test("The newest state replaces states that are not published yet") func theNewestStateReplacesThoseThatWait() {
        var door = Door()
        door.connect()
        door.meetLamp()
        _ = door.published()
        door.handle(.state(Door.lamp, PlugState(relayOn: true), at: "1"))
        let first = door.published(isTaken: false)
        for number in 2...50 { door.handle(.state(Door.lamp, PlugState(relayOn: true), at: "\(number)")) }
        #expect(door.published(isTaken: false).isEmpty)
        #expect(first.count == 1)
        door.handle(.disconnected(reason: "gone"))
        door.pass(.seconds(1))
        door.handle(.connected)
        let states = door.published().filter { $0.topic.hasSuffix("/state") }
        #expect(states.map(\.payload) == [JSONObject(PlugState(relayOn: true), at: "50").text])
    }

    @Test("States within the gathering time become one message, which follows the events")
    func statesOfOneMomentAreOneMessageBehindItsEvents() {
        var door = Door()
        door.connect()
        door.meetLamp()
        _ = door.published()
        door.pass(BrokerMachine.settling)
        door.handle(.state(Door.lamp, PlugState(relayOn: true), at: "U"))
        door.handle(.state(Door.lamp, PlugState(relayOn: false), at: "V"))
        door.handle(.happened(pressed(1)))
        let messages = door.published()
        #expect(
            messages.map(\.topic) == ["smartplug/home/00000000000a/event", "smartplug/home/00000000000a/state"])
        #expect(messages.last?.payload.contains("\"V\"") == true)
    }

    @Test("A command is answered on its response topic with its correlation data")
    func aCommandIsAnsweredWhereItWasAsked() {
        var door = Door()
        door.connect()
        door.meetLamp()
        _ = door.published()
        door.request(#"{"on":true}"#)
        let command = door.commands[0]
        #expect(command.1 == .setRelay(on: true, autoOff: nil))
        door.handle(.answered(command.0, .done(PlugState(relayOn: true), event: 9)))
        let answer = door.published()
        #expect(answer.map(\.topic) == ["smartplug/answers/me"])
        #expect(answer.first?.payload == #"{"plug":"00000000000a","done":true,"on":true,"seq":9}"#)
        #expect(answer.first?.correlation == Array("1".utf8))
    }

    @Test("A repeated command has the same request id") func theSameCommandHasTheSameID() {
        var door = Door()
        door.connect()
        door.meetLamp()
        door.request(#"{"on":true}"#)
        door.request(#"{"on":true}"#)
        door.request(#"{"on":true}"#, correlation: "2")
        door.request(#"{"on":false}"#)
        let ids = door.commands.map(\.2)
        #expect(ids[0] == ids[1])
        #expect(Set(ids).count == 3)
    }

    @Test(
        "Retained, expired and invalid commands are refused",
        arguments: [
            (#"{"on":true}"#, true, UInt32?.none, "deadlinePassed"),
            (#"{"on":true,"until":999}"#, false, nil, "deadlinePassed"),
            (#"{"on":true}"#, false, 0, "deadlinePassed"), ("rubbish", false, nil, "outOfRange"),
        ])
    func whatIsOldOrWrongSwitchesNothing(_ payload: String, _ retained: Bool, _ expiry: UInt32?, _ reason: String) {
        var door = Door()
        door.connect()
        door.meetLamp()
        _ = door.published()
        door.request(payload, retained: retained, expiry: expiry)
        #expect(door.commands.isEmpty)
        #expect(door.published().first?.payload.contains("\"reason\":\"\(reason)\"") == true)
    }

    @Test("If the configuration accepts no commands, a command is refused as not allowed")
    func aHouseMayTakeNoCommands() {
        var door = Door(takesCommands: false)
        door.connect()
        door.meetLamp()
        _ = door.published()
        door.request(#"{"on":true}"#)
        #expect(door.commands.isEmpty)
        #expect(door.published().first?.payload.contains("notAllowed") == true)
    }

    @Test("The system of a plug is published, and described to Home Assistant", arguments: [false, true])
    func aSystemIsPublished(updatesSystems: Bool) {
        var door = Door(updatesSystems: updatesSystems)
        door.connect()
        let report = UpdateReport(system: "1", phase: .installing(percent: 30))
        // A plug that is not part of the house has no messages.
        door.handle(.system(Door.lamp, report, available: "1"))
        #expect(!door.published().contains { $0.topic.hasSuffix("/system") })
        door.meetLamp()
        #expect(
            door.published().contains { $0.topic.hasSuffix("/system") && $0.payload.contains("\"available\":\"1\"") })
        door.handle(.paired([]))
        _ = door.published()
        door.meetLamp()
        #expect(!door.published().contains { $0.topic.hasSuffix("/system") || $0.payload.contains("\"update\"") })
        door.handle(.system(Door.lamp, report, available: "2"))
        let told = door.published()
        #expect(told.map(\.topic.last) == ["g", "m"] && told.allSatisfy(\.isRetained))
        #expect(told.first?.payload.contains("pl_inst") == updatesSystems)
        #expect(
            told.last?.payload
                == #"{"system":"1","available":"2","phase":"installing","percent":30,"restartsWhenOff":false}"#)
        door.handle(.paired([]))
        let removed = door.published().filter { $0.payload.isEmpty }
        #expect(removed.contains { $0.topic == "smartplug/home/00000000000a/system" })
    }

    @Test("An update is requested and answered only if the configuration allows it")
    func anUpdateIsAnsweredIfItIsAllowed() {
        for isAllowed in [false, true] {
            var door = Door(updatesSystems: isAllowed)
            door.connect()
            door.meetLamp()
            _ = door.published()
            for (correlation, refusal) in [("1", nil), ("2", Refusal(.busy, "an update is in progress"))] {
                door.request(#"{"update":true}"#, correlation: correlation)
                let asked = door.actions.compactMap { action -> BrokerTicket? in
                    if case .update(let ticket, Door.lamp) = action { ticket } else { nil }
                }
                door.actions = door.actions.filter { if case .update = $0 { false } else { true } }
                #expect(asked.count == (isAllowed ? 1 : 0))
                for ticket in asked { door.handle(.updateAnswered(ticket, refusal)) }
                let answer = door.published().first?.payload
                let reason = isAllowed ? refusal.map { _ in "busy" } : "unsupported"
                #expect(
                    answer?.contains(reason.map { "\"reason\":\"\($0)\"" } ?? "\"done\":true") == true,
                    "\(answer ?? "")")
            }
        }
    }

    @Test("While the current time is unknown, commands with an end time are refused")
    func whoDoesNotKnowTheTimeRefusesWhatEndsAtOne() {
        var door = Door()
        door.connect()
        door.meetLamp()
        _ = door.published()
        for payload in [#"{"on":true,"until":2000}"#, #"{"on":true}"#] {
            door.handle(
                .received(
                    BrokerMessage(
                        topic: Door.tree.topic(.set, of: Door.lamp), payload: Array(payload.utf8),
                        responseTopic: "smartplug/answers/me", at: nil)))
        }
        #expect(door.commands.map(\.1) == [.setRelay(on: true, autoOff: nil)])
        let refusal = door.published().first?.payload
        #expect(refusal?.contains(#""reason":"unsupported""#) == true && refusal?.contains("clock") == true)
    }

    @Test("Commands beyond the limit are refused, and the refusals are reported once")
    func aFloodIsRefusedAndToldOnce() {
        var door = Door()
        door.connect()
        door.meetLamp()
        for number in 0..<10_000 { door.request(#"{"on":true}"#, correlation: "\(number)") }
        #expect(door.commands.count == RequestBook.limit)
        let notices = door.actions.filter { if case .tell(.refused) = $0 { true } else { false } }
        #expect(notices.count == 1)
        door.pass(.seconds(2))
        for (ticket, _, _) in door.commands {
            door.handle(.answered(ticket, .done(PlugState(relayOn: true), event: nil)))
        }
        door.actions = []
        door.request(#"{"on":true}"#, correlation: "x")
        #expect(door.commands.count == 1)
    }

    @Test("The retained messages of an unpaired plug are removed") func aPlugThatIsNotPairedAnyMoreIsRemoved() {
        var door = Door(known: [Door.lamp])
        door.connect()
        _ = door.published()
        door.handle(.paired([]))
        let removed = door.published()
        #expect(removed.count == 5)
        #expect(removed.allSatisfy { $0.payload.isEmpty && $0.isRetained })
        #expect(door.actions.contains(.forget(Door.lamp)))
    }

    @Test(
        "A refresh publishes everything again, at a limited rate",
        arguments: [
            ("smartplug/home/refresh", "", true), ("homeassistant/status", "online", true),
            ("homeassistant/status", "offline", false), ("smartplug/other/refresh", "", false),
        ])
    func whoAsksGetsEverythingAgain(_ topic: String, _ payload: String, _ isAsked: Bool) {
        var door = Door()
        door.connect()
        door.meetLamp()
        _ = door.published()
        door.pass(.seconds(1))
        for _ in 0..<100 { door.handle(.received(BrokerMessage(topic: topic, payload: Array(payload.utf8), at: 1000))) }
        door.pass(.seconds(1))
        #expect(door.published().count == (isAsked ? 5 : 0))
        // A refresh does not delay events.
        door.handle(.happened(pressed(1)))
        #expect(door.published().map(\.topic) == ["smartplug/home/00000000000a/event"])
        // Frequent refreshes are answered at a limited rate.
        door.handle(.received(BrokerMessage(topic: topic, payload: Array(payload.utf8), at: 1000)))
        door.pass(Refresh.interval - .seconds(1.5))
        #expect(door.published().isEmpty)
        door.pass(.seconds(2.5))
        #expect(door.published().count == (isAsked ? 5 : 0))
    }

    @Test("If a broker acknowledges nothing, the machine disconnects and connects to the next broker")
    func aBrokerThatTakesNothingIsGivenUp() {
        var door = Door(servers: 2)
        door.connect()
        door.meetLamp()
        _ = door.published(isTaken: false)
        door.pass(BrokerMachine.patience - BrokerMachine.gathering - .milliseconds(1))
        #expect(!door.actions.contains(.disconnect))
        door.pass(.milliseconds(1))
        #expect(door.actions.contains(.disconnect))
        door.handle(.disconnected(reason: "ended"))
        door.pass(.seconds(1))
        #expect(door.actions.last == .connect(server: 1))
    }

    @Test("A rejected event is retried, and the rejection is reported once")
    func aRefusedMessageIsTriedAgainAndToldOnce() {
        var door = Door()
        door.connect()
        door.meetLamp()
        _ = door.published()
        door.pass(.seconds(1))
        door.handle(.happened(pressed(1)))
        for _ in 0..<3 {
            guard
                case .publish(let ticket, _)? = door.actions.last(where: {
                    if case .publish = $0 { true } else { false }
                })
            else { return #expect(Bool(false)) }
            door.actions.removeAll { if case .publish = $0 { true } else { false } }
            door.handle(.acknowledged(ticket, refusal: "Quota exceeded"))
            #expect(door.published().isEmpty)
            door.pass(.seconds(5))
        }
        #expect(door.actions.filter { if case .tell(.notTaken) = $0 { true } else { false } }.count == 1)
        #expect(!door.actions.contains(.keep(1)))
        _ = door.published()
        #expect(door.actions.contains(.keep(1)))
    }

    @Test("The servers are tried one after another within a second, and then with growing pauses")
    func theListOfServersIsTriedAtOnceAndThenEverSlower() {
        var door = Door(servers: 3)
        door.handle(.started)
        var tries: [(server: Int, at: Instant)] = []
        while tries.count < 24 {
            for case .connect(let server) in door.actions { tries.append((server, door.now)) }
            door.actions = door.actions.filter { if case .tell = $0 { true } else { false } }
            door.handle(.disconnected(reason: "Connection refused"))
            guard let next = door.machine.nextDeadline else { return #expect(Bool(false)) }
            #expect(next - door.now <= Reconnection.longestWait)
            door.now = next
            door.handle(.deadlineReached)
        }
        #expect(tries.prefix(4).map(\.server) == [0, 1, 2, 0])
        #expect(tries[2].at - tries[0].at < .seconds(1))
        #expect(tries[23].at - tries[22].at >= Reconnection.longestWait / 2)
        #expect(
            door.actions.filter { if case .tell = $0 { true } else { false } } == [
                .tell(.unreachable(reason: "Connection refused"))
            ])
    }
}
