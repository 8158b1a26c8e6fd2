import Appliance
import LinuxSystem
import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import Storage
import TestSupport

extension FuzzTarget {
    /// Sends bytes of a paired controller to a complete plug with sessions, appliance, journal, mirror and flash. Then
    /// the process is killed, and the next process reads the mirror and receives the same bytes. Then the power fails,
    /// and the next process has only flash and receives the same bytes.
    static let plugLife = FuzzTarget(
        name: "plug-life",
        seeds: { recorded { $0.fromGuest } },
        check: { bytes in
            let board = FuzzedBoard()
            try board.begin()
            try board.meet(bytes)
            let wasHeard = board.sent > 0
            try board.kill()
            try board.meet(bytes)
            try board.cutPower()
            try board.meet(bytes)
            try board.kill()
            return wasHeard
        })
}

/// A board with a disk and a plug that is paired with one controller.
private final class FuzzedBoard {
    private static let state = "/var/plug"
    private static let runtime = "/run/plug"
    /// The largest number of steps per wait. A plug that needs more steps never becomes idle.
    private static let patience = 5000

    private let disk = SimulatedDisk(seed: 1)
    private let queue = ActionQueue<PlugMachine.Action>()
    private var boot: UInt8 = 0
    private var connection: UInt64 = 0
    private var now = FuzzedPlug.now
    private var storage: PlugStorage?
    private var machine: PlugMachine?
    private var failure: FuzzFailure?
    /// The lowest sequence number that may still be used.
    private var next: SequenceNumber = 1
    private var isResetting = false
    private var relayOn = false
    /// The closed connections.
    private var closed: Set<ConnectionID> = []
    /// The number of bytes sent.
    private(set) var sent = 0

    /// Performs the factory's and the owner's first steps: the setup code, a first start, and a paired controller.
    func begin() throws {
        let files = FileStore(calls: disk)
        try files.makeDirectories(Self.state)
        let code = "\(SetupCode.label.text)\n"
        try files.replace("\(Self.state)/setup-code", with: Array((code + code).utf8))
        try start(powerLost: true)
        try require(
            storage?.keep(PairedControllers([.init(key: .desk, name: "Desk")])) == true, "a new disk rejects a write")
        try kill()
    }

    /// Lets the controller connect, send these bytes, and disconnect a minute later.
    func meet(_ bytes: [UInt8]) throws {
        connection += 1
        let id = ConnectionID(rawValue: connection)
        try handle(.server(.opened(PlugServer.Opening(id, of: .desk))))
        for piece in [bytes.prefix(bytes.count / 2), bytes.dropFirst(bytes.count / 2)] {
            try handle(.server(.received(id, Array(piece))))
            try wait(.milliseconds(10))
        }
        try wait(.seconds(60))
        try handle(.server(.closed(id)))
    }

    func kill() throws {
        let before = machine?.settings
        storage = nil
        disk.startProcess()
        try start(powerLost: false)
        try require(before == nil || machine?.settings == before, "the settings change")
    }

    func cutPower() throws {
        let before = machine?.settings
        storage = nil
        disk.boot()
        relayOn = false
        try start(powerLost: true)
        try require(machine?.settings == before, "the settings change")
    }

    private func start(powerLost: Bool) throws {
        if powerLost { boot += 1 }
        let boot = BootID(bytes: [UInt8](repeating: boot, count: 16))!
        var random = SeededRandom(seed: UInt64(self.boot))
        var configuration = ApplianceConfiguration()
        configuration.capabilities.formUnion([.dimmer, .meter, .rename, .settings, .log])
        let storage = try PlugStorage(
            state: Self.state, runtime: Self.runtime, boot: boot, files: FileStore(calls: disk), random: &random,
            tell: { _ in })
        if storage.wasReset { next = 1 }
        let settings = storage.settings()
        let identity = PlugServer.Identity(
            id: storage.id, name: settings.name ?? "Lamp", capabilities: configuration.capabilities, firmware: "1.0",
            boot: boot)
        machine = PlugMachine(
            configuration, identity: identity, access: storage.access(key: .plug, random: &random),
            memory: storage.restore(now: now), settings: settings, audit: storage.audit(), seed: 1)
        self.storage = storage
        closed = []
        try handle(.started)
    }

    private func wait(_ duration: Duration) throws {
        let end = now + duration
        var steps = 0
        while let deadline = machine?.nextDeadline, deadline <= end {
            now = max(now, deadline)
            try handle(.deadlineReached)
            steps += 1
            try require(steps < Self.patience, "the plug never becomes idle")
        }
        now = end
    }

    private func handle(_ event: PlugMachine.Event) throws {
        step(event)
        if let failure { throw failure }
        guard isResetting else { return }
        isResetting = false
        storage?.close()
        storage = nil
        try start(powerLost: false)
    }

    private func step(_ event: PlugMachine.Event) {
        guard let actions = machine?.handle(event, now: now) else { return }
        queue.perform(actions) { perform($0) }
        guard !queue.isPerforming, let machine else { return }
        storage?.settle(machine.memory, now: now)
    }

    private func perform(_ action: PlugMachine.Action) {
        switch action {
        case .part(.setRelay(let on)): relayOn = on
        case .part(.readMeter):
            step(.appliance(.measured(Measurement(deciwatts: relayOn ? 600 : 0, decivolts: 2300, milliamperes: 260))))
        case .mirror(let records):
            for case .event(let event) in records {
                if event.sequence < next { fail("number \(event.sequence) was used, but the next is \(next)") }
                next = event.sequence + 1
            }
            storage?.mirror(records)
        case .keep(let controllers): if storage?.keep(controllers) != true { step(.keepFailed) }
        case .server(.send(let id, let bytes)):
            if closed.contains(id) { fail("bytes were sent after the close") }
            sent += bytes.count
        case .server(.close(let id, _)): if !closed.insert(id).inserted { fail("a connection was closed twice") }
        case .keepAudit(let audit): step(storage?.keep(audit) == true ? .auditKept : .auditNotKept)
        case .factoryReset(let actor):
            isResetting = storage?.orderReset(by: actor) == true
            step(isResetting ? .resetStands : .resetFailed)
        case .announce(let name): step(.renamed(name))
        case .keepSettings(let settings): step(storage?.keep(settings) == true ? .settingsKept : .settingsNotKept)
        case .keepCode(let code): step(storage?.keep(code) == true ? .codeKept : .codeNotKept)
        case .persist(let state): if storage?.persist(state) != true { step(.appliance(.persistFailed)) }
        case .reserve(let boundary):
            step(storage?.reserve(upTo: boundary) == true ? .reserved(boundary) : .reservationFailed)
        case .server(.manageHomeKit(let id, _)):
            step(.server(.homeKit(id, .failure(Refusal(.unsupported, "HomeKit is off")))))
        case .server(.manageMatter(let id, _)):
            step(.server(.matter(id, .failure(Refusal(.unsupported, "Matter is off")))))
        case .server(.manageUpdate(let id, _)):
            step(.server(.update(id, .failure(Refusal(.unsupported, "the plug is not updated")))))
        case .server(.manageWiFi(let id, _)):
            step(.server(.wiFi(id, .failure(Refusal(.unsupported, "the plug joins no networks")))))
        case .part, .server, .setUpNetwork: break
        }
    }

    private func fail(_ description: String) { failure = failure ?? FuzzFailure(description) }
}
