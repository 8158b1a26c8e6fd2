import HomeKit
import LargeNumbers
import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import HomeKitDoor

/// The door's machine and a simulated plug, which performs or refuses the door's commands.
private struct Bench {
    static let plug = PlugID(rawValue: "00000000000a")!

    var machine: HomeKitDoorMachine
    var now = Instant.zero + .seconds(100)
    var state = PlugState(relayOn: false, level: .full)
    var journal = EventJournal()
    var refusal: Refusal?
    /// True if the plug answers each command at once; false if it answers none.
    var answers = true
    var asked: [DoorCommand] = []
    var notes: [AuditNote] = []
    var output: [HomeKitSessionID: [UInt8]] = [:]
    private var lastSession: UInt64 = 0

    init(_ shape: PlugAccessory.Shape = .lightbulb) throws {
        let accessory = PlugAccessory(
            Self.plug, shape, capabilities: [.relay, .dimmer, .meter, .button], firmware: "1.0.0")
        let arithmetic = try GMPArithmetic()
        let code = try #require(HomeKitSetupCode(SimulatedAccessory.code))
        let server = try HomeKitServer(
            .init(
                verifier: SetupVerifier(code, salt: Array(repeating: 1, count: 16), arithmetic),
                setupID: #require(HomeKitSetupID("7OSX")), category: accessory.category, model: accessory.model),
            records: HomeKitRecords(seed: Array(repeating: 3, count: 32)), accessories: accessory.accessories,
            arithmetic: arithmetic, seed: Array(repeating: 4, count: 32))
        machine = HomeKitDoorMachine(accessory, server, seed: 7)
        handle(.started)
        look()
    }

    mutating func handle(_ event: HomeKitDoorMachine.Event) {
        var due = machine.handle(event, now: now)[...]
        while let action = due.popFirst() {
            switch action {
            case .send(let session, let bytes):
                output[session, default: []] += bytes
                due += machine.handle(.server(.drained(session)), now: now)
            case .store: due += machine.handle(.server(.stored(true)), now: now)
            case .ask(let command):
                asked.append(command)
                if answers { due += machine.handle(.answered(command.ticket, carryOut(command)), now: now) }
            case .read(let sequence, let limit):
                due += machine.handle(.page(journal.page(after: sequence, limit: limit)), now: now)
            case .note(let note): notes.append(note)
            case .close, .verified, .announce, .tell: break
            }
        }
    }

    private mutating func carryOut(_ command: DoorCommand) -> CommandOutcome {
        if let refusal { return .refused(refusal) }
        switch command.command {
        case .setRelay(let on, autoOff: _): state.relayOn = on
        case .setLevel(let level, transition: _):
            state.level = level == .zero ? state.level : level
            state.relayOn = level != .zero
        case .identify, .resetProtection, .rename, .configure: break
        }
        return .done(state, event: nil)
    }

    mutating func look() {
        handle(.looked(HomeKitDoorMachine.Glance(state: state, name: "Lamp", newest: journal.nextSequence - 1)))
    }

    mutating func press(_ press: ButtonPress, ago: Duration = .zero) {
        journal.append(.buttonPressed(press), time: now - ago, boot: BootID(bytes: Array(repeating: 1, count: 16))!)
        look()
    }

    mutating func deliver(_ connection: inout SimulatedConnection) throws {
        try connection.receive(output.removeValue(forKey: connection.id) ?? [])
    }

    mutating func ask(
        _ connection: inout SimulatedConnection, _ method: String, _ target: String, _ body: [UInt8] = []
    ) throws -> SimulatedConnection.Answer {
        handle(.server(.received(connection.id, try connection.request(method, target, body))))
        try deliver(&connection)
        let answer = connection.takeAnswer()
        return try #require(answer)
    }

    mutating func put(_ connection: inout SimulatedConnection, _ json: String) throws -> SimulatedConnection.Answer {
        try ask(&connection, "PUT", "/characteristics", Array(#"{"characteristics":[\#(json)]}"#.utf8))
    }

    mutating func open() -> SimulatedConnection {
        lastSession += 1
        let id = HomeKitSessionID(rawValue: lastSession)
        handle(.server(.opened(id, isLocal: true)))
        return SimulatedConnection(id)
    }

    mutating func paired() throws -> SimulatedConnection {
        var controller = SimulatedController("5C2E81A0-6F4B")
        var connection = open()
        func items(_ target: String, _ body: [UInt8]) throws -> TLV8 {
            try SimulatedAccessory.items(try ask(&connection, "POST", target, body))
        }
        var setup = try SetupAttempt(controller, code: SimulatedAccessory.code)
        let second = try items("/pair-setup", SetupAttempt.first())
        let fourth = try items("/pair-setup", try setup.second(second))
        try setup.finish(try items("/pair-setup", try setup.third(fourth)))
        if let (key, id) = setup.accessory { controller.learn(key, id) }
        var verify = VerifyAttempt(controller)
        let answer = try items("/pair-verify", try verify.first())
        _ = try items("/pair-verify", try verify.second(answer))
        connection.encrypt(verify.shared)
        return connection
    }
}

@Suite struct HomeKitDoorMachineTests {
    @Test("A write becomes a command that names the controller") func aWriteIsACommandOfItsController() throws {
        var bench = try Bench()
        var session = try bench.paired()
        #expect(try bench.put(&session, #"{"aid":1,"iid":49,"value":true}"#).status == 204)
        let command = try #require(bench.asked.last)
        #expect(command.command == .setRelay(on: true, autoOff: nil) && command.door == .homeKit)
        #expect(command.askerName == "HomeKit 5C2E81A0")
        #expect(bench.notes.map(\.kind) == [.paired])
        #expect(bench.notes.first?.actor == .homeKit)
    }

    @Test("A write that contains both off and a level turns the relay off and ignores the level")
    func offTogetherWithALevelIsOff() throws {
        var bench = try Bench()
        var session = try bench.paired()
        let both = #"{"aid":1,"iid":49,"value":false},{"aid":1,"iid":50,"value":40}"#
        #expect(try bench.put(&session, both).status == 204)
        #expect(bench.asked.map(\.command) == [.setRelay(on: false, autoOff: nil)])
        let on = #"{"aid":1,"iid":49,"value":true},{"aid":1,"iid":50,"value":40}"#
        #expect(try bench.put(&session, on).status == 204)
        #expect(bench.state.relayOn && bench.state.level == DimLevel(percent: 40))
        #expect(Set(bench.asked.map(\.request)).count == bench.asked.count)
    }

    @Test(
        "Each reason for which the plug refuses a command has its HAP status",
        arguments: [
            (Refusal.Code.protectionTripped, -70412), (.lockedOn, -70412), (.resting, -70403), (.busy, -70403),
            (.notAllowed, -70401), (.outOfRange, -70410), (.deadlinePassed, -70408), (.storageFailed, -70407),
        ])
    func refused(_ code: Refusal.Code, _ status: Int) throws {
        var bench = try Bench()
        var session = try bench.paired()
        bench.refusal = Refusal(code, "no")
        let answer = try bench.put(&session, #"{"aid":1,"iid":49,"value":true}"#)
        #expect(answer.status == 400 || answer.status == 207)
        #expect(answer.text.contains("\"status\":\(status)"), "\(answer.text)")
    }

    @Test("A change is sent to subscribed sessions, but not to the session that wrote it")
    func thoseWhoSubscribedHearOfItAndTheWriterDoesNot() throws {
        var bench = try Bench()
        var session = try bench.paired()
        _ = try bench.put(&session, #"{"aid":1,"iid":49,"ev":true},{"aid":1,"iid":65,"ev":true}"#)
        _ = try bench.put(&session, #"{"aid":1,"iid":49,"value":true}"#)
        bench.look()
        try bench.deliver(&session)
        #expect(session.takeEvents().isEmpty)
        // A change by the button or by a different client.
        bench.now = bench.now + .seconds(2)
        bench.state.relayOn = false
        bench.look()
        try bench.deliver(&session)
        let events = session.takeEvents()
        #expect(events.count == 1 && events[0].contains(#""iid":49,"value":false"#), "\(events)")
    }

    @Test("A press is sent once, and a press that is six seconds old is not sent")
    func aPressIsToldOnceAndNotWhenItIsOld() throws {
        var bench = try Bench()
        bench.press(.single)
        var session = try bench.paired()
        _ = try bench.put(&session, #"{"aid":1,"iid":65,"ev":true}"#)
        bench.press(.double)
        bench.look()
        bench.press(.long, ago: .seconds(6))
        for _ in 0..<40 { bench.press(.single) }
        try bench.deliver(&session)
        let events = session.takeEvents()
        #expect(events.first?.contains(#""value":1"#) == true)
        #expect(events.count == 41 && events.allSatisfy { !$0.contains(#""value":2"#) }, "\(events.count)")
    }

    @Test("A command without an answer times out, and a late answer is ignored")
    func aPlugThatDoesNotAnswerIsNotAskedWithoutEnd() throws {
        var bench = try Bench()
        var session = try bench.paired()
        bench.answers = false
        bench.handle(
            .server(
                .received(
                    session.id,
                    try session.request(
                        "PUT", "/characteristics", Array(#"{"characteristics":[{"aid":1,"iid":49,"value":true}]}"#.utf8)
                    ))))
        let next = try #require(bench.machine.nextDeadline)
        bench.now = next
        bench.handle(.deadlineReached)
        try bench.deliver(&session)
        let taken = session.takeAnswer()
        let answer = try #require(taken)
        #expect(answer.text.contains("-70408"), "\(answer.text)")
        // The controller no longer waits for this answer.
        bench.handle(.answered(bench.asked[0].ticket, .done(bench.state, event: nil)))
        #expect(bench.asked.count == 1)
        let within = try #require(bench.asked.first).within
        #expect(within < .seconds(10), "the command expires before the controller's timeout")
    }
}
