import Matter
import MatterSessions
import MatterWire
import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import MatterDoor

/// The door's machine, a simulated plug that performs or refuses the door's commands, and a simulated controller. Time
/// is virtual, and datagrams arrive at once.
private struct Bench {
    struct Stuck: Error {}

    static let plug = MatterPlug(
        PlugID(rawValue: "00000000000a")!, capabilities: [.relay, .dimmer, .meter, .button], firmware: "1.0.0")
    private static let place = MatterPeer(address: [192, 0, 2, 1], port: 5540)
    private static let controllerPlace = MatterPeer(address: [192, 0, 2, 7], port: 40_000)

    var machine: MatterDoorMachine
    var controller: MatterController
    var now = Instant.zero + .seconds(100)
    var state = PlugState(relayOn: false, level: .full)
    var journal = EventJournal()
    var refusal: Refusal?
    /// False if the controller is in another network.
    var isLocal = true
    var asked: [DoorCommand] = []
    var notes: [AuditNote] = []
    var distantReports = 0

    init() throws {
        var setup = try MatterSetup(seed: 1)
        setup.configuration.features = Self.plug.features
        let device = MatterDevice(
            setup.configuration, records: MatterRecords(), cryptography: setup.cryptography,
            seed: Array(repeating: 5, count: 32))
        machine = MatterDoorMachine(Self.plug, device, seed: 7)
        controller = try MatterController(
            MatterCertificateIssuer(fabric: 0xFAB1, seed: 3), node: 0x1_B669, device: Self.place, seed: 4,
            cryptography: setup.cryptography)
        handle(.started)
        look()
    }

    mutating func handle(_ event: MatterDoorMachine.Event) {
        var due = machine.handle(event, now: now)[...]
        while let action = due.popFirst() {
            switch action {
            case .send(let bytes, to: _): controller.receive(bytes, from: Self.place, now: now)
            case .store: due += machine.handle(.stored(true), now: now)
            case .ask(let command):
                asked.append(command)
                due += machine.handle(.answered(command.ticket, carryOut(command)), now: now)
            case .read(let sequence, let limit):
                due += machine.handle(.page(journal.page(after: sequence, limit: limit)), now: now)
            case .note(let note): notes.append(note)
            case .tellDistant: distantReports += 1
            case .announce, .join, .tell: break
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
        handle(.looked(MatterDoorMachine.Glance(state: state, name: "Lamp", newest: journal.nextSequence - 1)))
    }

    mutating func press(_ press: ButtonPress, ago: Duration = .zero) {
        journal.append(.buttonPressed(press), time: now - ago, boot: BootID(bytes: Array(repeating: 1, count: 16))!)
        look()
    }

    /// Lets the time pass.
    mutating func wait(_ time: Duration) {
        let end = now + time
        while let next = sooner(machine.nextDeadline, controller.nextDeadline), next <= end {
            now = max(now, next) + .milliseconds(1)
            expire()
        }
        now = max(now, end)
        expire()
    }

    private mutating func expire() {
        handle(.deadlineReached)
        controller.expire(now: now)
        deliver()
    }

    private mutating func deliver() {
        while case let output = controller.takeOutput(), !output.isEmpty {
            for datagram in output {
                handle(.received(datagram.bytes, from: Self.controllerPlace, isLocal: isLocal))
            }
        }
    }

    /// Performs a request of the controller.
    @discardableResult
    mutating func finish(_ request: MatterControllerRequest) throws -> MatterOutcome {
        let ticket = controller.begin(request, now: now)
        for _ in 0..<1000 {
            deliver()
            if let outcome = controller.takeOutcome(of: ticket) { return try outcome.get() }
            guard let next = sooner(machine.nextDeadline, controller.nextDeadline) else { break }
            now = max(now, next) + .milliseconds(1)
            expire()
        }
        throw Stuck()
    }

    mutating func commission() throws {
        try finish(.commission(passcode: MatterSetup.passcode))
    }

    /// Invokes a command of endpoint 1 and returns its status.
    mutating func invoke(_ cluster: UInt32, _ command: UInt32, _ fields: TLVValue = .structure([])) throws
        -> InteractionStatusCode?
    {
        let path = CommandPath(endpoint: 1, cluster: cluster, command: command)
        guard case .invoked(let replies) = try finish(.invoke(path, fields)) else { return nil }
        if case .status(_, let status, reference: _)? = replies.first { return status.code }
        return nil
    }

    /// Reads an attribute of endpoint 1.
    mutating func read(_ cluster: UInt32, _ attribute: UInt32) throws -> TLVValue? {
        let path = AttributePath(endpoint: 1, cluster: cluster, attribute: attribute)
        guard case .read(let reports, _) = try finish(.read(ReadRequest(attributes: [path]))),
            case .data(let data)? = reports.first
        else { return nil }
        return data.value
    }

    /// Reads the numbers of the button's events.
    mutating func presses() throws -> Int {
        let path = EventPath(endpoint: 2, cluster: 0x3B)
        guard case .read(_, let events) = try finish(.read(ReadRequest(attributes: [], events: [path]))) else {
            return -1
        }
        return events.count
    }
}

@Suite struct MatterDoorMachineTests {
    private enum Cluster {
        static let identify: UInt32 = 0x03
        static let onOff: UInt32 = 0x06
        static let level: UInt32 = 0x08
        static let power: UInt32 = 0x90
    }

    @Test("A command of a controller becomes a command of the plug that names fabric and node")
    func aCommandNamesItsNode() throws {
        var bench = try Bench()
        try bench.commission()
        #expect(try bench.invoke(Cluster.onOff, 1) == .success)
        let command = try #require(bench.asked.last)
        #expect(command.command == .setRelay(on: true, autoOff: nil) && command.door == .matter)
        #expect(command.askerName == "Matter 1/000000000001B669")
        #expect(command.within < .seconds(10), "the command expires before the controller's timeout")
        #expect(try bench.read(Cluster.onOff, 0) == .boolean(true))
        #expect(bench.notes.map(\.kind).contains(.paired) && bench.notes.allSatisfy { $0.actor == .matter })
    }

    @Test(
        "Each reason for which the plug refuses a command has its status",
        arguments: [
            (Refusal.Code.protectionTripped, InteractionStatusCode.invalidInState), (.lockedOn, .invalidInState),
            (.resting, .busy), (.busy, .busy), (.notAllowed, .unsupportedAccess), (.outOfRange, .constraintError),
            (.deadlinePassed, .timeout), (.storageFailed, .resourceExhausted),
        ])
    func refused(_ code: Refusal.Code, _ status: InteractionStatusCode) throws {
        var bench = try Bench()
        try bench.commission()
        bench.refusal = Refusal(code, "no")
        #expect(try bench.invoke(Cluster.onOff, 1) == status)
        #expect(try bench.read(Cluster.onOff, 0) == .boolean(false))
    }

    @Test("A level is converted to thousandths, with its transition") func levels() throws {
        var bench = try Bench()
        try bench.commission()
        let half = TLVValue.fields((0, .unsigned(127)), (1, .unsigned(20)), (2, .unsigned(0)), (3, .unsigned(0)))
        #expect(try bench.invoke(Cluster.level, 4, half) == .success)
        let level = try #require(DimLevel(permille: 500))
        #expect(bench.asked.map(\.command).last == .setLevel(level, transition: .seconds(2)))
        #expect(bench.state.relayOn && bench.state.level == level)
    }

    @Test("On with a level for this case turns the load on and then sets the level") func onLevel() throws {
        var bench = try Bench()
        try bench.commission()
        let onLevel = AttributePath(endpoint: 1, cluster: Cluster.level, attribute: 0x11)
        try bench.finish(.write([AttributeData(path: onLevel, value: .unsigned(127))]))
        #expect(try bench.invoke(Cluster.onOff, 1) == .success)
        let level = try #require(DimLevel(permille: 500))
        #expect(
            bench.asked.map(\.command) == [.setRelay(on: true, autoOff: nil), .setLevel(level, transition: .zero)])
        #expect(bench.state.relayOn && bench.state.level == level)
    }

    @Test("A changed state is reported, with power in mW") func states() throws {
        var bench = try Bench()
        try bench.commission()
        bench.state.relayOn = true
        bench.state.reading = Reading(
            time: .zero, deciwatts: 425, decivolts: 2301, milliamperes: 190, milliwattHours: 1_234_567)
        bench.look()
        #expect(try bench.read(Cluster.onOff, 0) == .boolean(true))
        #expect(try bench.read(Cluster.power, 8)?.asSigned == 42_500)
        #expect(try bench.read(Cluster.power, 4)?.asSigned == 230_100)
        #expect(try bench.read(Cluster.power, 5)?.asSigned == 190)
    }

    @Test("A press is an event, and a press that is six seconds old is not") func presses() throws {
        var bench = try Bench()
        bench.press(.single, ago: .seconds(6))
        try bench.commission()
        #expect(try bench.presses() == 0)
        bench.press(.double)
        bench.look()
        let afterDouble = try bench.presses()
        #expect(afterDouble > 0)
        bench.press(.long, ago: .seconds(6))
        #expect(try bench.presses() == afterDouble)
    }

    @Test("A long identification repeats the plug's command until it is over or ended") func identification() throws {
        var bench = try Bench()
        try bench.commission()
        #expect(try bench.invoke(Cluster.identify, 0, .fields((0, .unsigned(25)))) == .success)
        bench.wait(.seconds(60))
        #expect(bench.asked.map(\.command) == [.identify, .identify, .identify])
        #expect(Set(bench.asked.map(\.request)).count == 3)
        #expect(try bench.invoke(Cluster.identify, 0, .fields((0, .unsigned(60)))) == .success)
        #expect(try bench.invoke(Cluster.identify, 0, .fields((0, .unsigned(0)))) == .success)
        bench.wait(.seconds(60))
        #expect(bench.asked.count == 4)
    }

    @Test("A controller in another network cannot commission the plug, and this is noted once")
    func distantCommissioner() throws {
        var bench = try Bench()
        bench.isLocal = false
        #expect(throws: (any Error).self) { try bench.commission() }
        #expect(bench.machine.fabrics.isEmpty)
        let refused = bench.notes.filter { $0.kind == .pairingFailed }
        #expect(refused.allSatisfy { $0.isRefused } && (1...2).contains(refused.count), "\(refused)")
        #expect(bench.distantReports == refused.count)
    }

    @Test("The commissioning window is open after a start without fabrics, and an owner closes and opens it")
    func window() throws {
        var bench = try Bench()
        #expect(bench.machine.window.opensUntil == bench.now + MatterDoorMachine.windowTime)
        #expect(bench.machine.announcements.map(\.type) == ["_matterc._udp"])
        bench.handle(.opened(.zero))
        #expect(bench.machine.window.opensUntil == nil && bench.machine.announcements.isEmpty)
        bench.handle(.opened(.seconds(100_000)))
        #expect(bench.machine.window.opensUntil == bench.now + MatterDoorMachine.windowTime)
        try bench.commission()
        #expect(bench.machine.announcements.contains { $0.type == "_matter._tcp" })
    }

    @Test("A fabric that the owner removes is noted and has no access") func removal() throws {
        var bench = try Bench()
        try bench.commission()
        let fabric = try #require(bench.machine.fabrics.first)
        #expect(fabric.index == 1 && fabric.fabricID == 0xFAB1)
        bench.handle(.removed(1))
        #expect(bench.machine.fabrics.isEmpty && !bench.machine.isStoring)
        #expect(bench.notes.map(\.kind).contains(.removed))
        #expect(throws: (any Error).self) { try bench.invoke(Cluster.onOff, 1) }
        #expect(bench.asked.isEmpty)
    }
}
