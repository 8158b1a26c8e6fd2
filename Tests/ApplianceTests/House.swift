import Appliance
import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

let desk = ConnectionID(rawValue: 1)
let hall = ConnectionID(rawValue: 2)

func request(_ number: UInt8) -> RequestID { RequestID(bytes: [UInt8](repeating: number, count: 16))! }
func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

/// A plug with controllers in virtual time. Its mirror and its flash are values.
struct House {
    var machine: PlugMachine
    var now: Instant
    var controllers: [ConnectionID: ControllerSession] = [:]
    var heard: [ConnectionID: [SessionUpdate]] = [:]
    /// The actions that are not for a controller, in order.
    var actions: [PlugMachine.Action] = []
    /// The mirror that a killed process leaves behind.
    var mirror = MirrorEncoder()
    /// True if flash can be written.
    var isFlashWritable = true
    /// True if a reservation of numbers is confirmed only by ``answerFlash()``.
    var isFlashSlow = false
    /// The boundary of the reservation that waits for ``answerFlash()``, or nil. Event numbers below a boundary are
    /// reserved.
    var asked: SequenceNumber?
    /// The boundary that flash has stored.
    var boundary: SequenceNumber = 1001
    var settings: StoredSettings
    private let rest: Duration?

    init(
        _ memory: PlugMemory = PlugMemory(appliance: ApplianceMemory(powerLost: false)), dimmer: Bool = false,
        rest: Duration? = nil, interval: Duration = .seconds(1), access: PlugServer.Access = .knowing(),
        settings: StoredSettings = StoredSettings(), audit: AuditLog? = nil, at now: Instant = .zero,
        configure: (inout ApplianceConfiguration) -> Void = { _ in }
    ) {
        self.settings = settings
        self.now = now
        self.rest = rest
        var configuration = ApplianceConfiguration()
        configuration.rest = rest
        configuration.meterInterval = interval
        if dimmer { configuration.capabilities.insert(.dimmer) }
        configure(&configuration)
        let identity = PlugServer.Identity(
            id: PlugID(rawValue: "0123456789ab")!, name: settings.name ?? "Lamp",
            capabilities: configuration.capabilities.union([.log, .rename, .settings, .audit]),
            firmware: "1.0", boot: BootID(bytes: [UInt8](repeating: 7, count: 16))!)
        machine = PlugMachine(
            configuration, identity: identity, access: access, memory: memory, settings: settings, audit: audit,
            seed: 1)
        mirror.append(.begins(identity.boot, identity.id))
        for record in memory.records { mirror.append(record) }
        feed(.started)
    }

    /// Returns the plug after its process was killed and restarted.
    func restarted() throws -> House {
        var memory = PlugMemory(appliance: ApplianceMemory(powerLost: false))
        var decoder = MirrorDecoder(mirror.bytes)
        _ = try decoder.next()
        while let record = try decoder.next() { precondition(memory.restore(record, limits: PlugMemory.Limits())) }
        let next = memory.journal.nextSequence
        memory.numbers = ReservedNumbers(below: boundary, next: next)
        let beyond = next + SequenceNumber(memory.unnumbered.count)
        if let wanted = memory.numbers.request(next: beyond, now: now) { memory.numbers.confirm(wanted, next: next) }
        return House(
            memory, dimmer: machine.identity.capabilities.contains(.dimmer), rest: rest, settings: settings, at: now)
    }

    /// Confirms the reservation of numbers that waits.
    mutating func answerFlash() {
        guard let asked else { preconditionFailure("no reservation of numbers waits") }
        self.asked = nil
        boundary = asked
        feed(.reserved(asked))
    }

    mutating func feed(_ event: PlugMachine.Event) {
        var pending = machine.handle(event, now: now)
        while !pending.isEmpty {
            let action = pending.removeFirst()
            if let answer = perform(action) { pending += machine.handle(answer, now: now) }
        }
    }

    private mutating func perform(_ action: PlugMachine.Action) -> PlugMachine.Event? {
        switch action {
        case .server(.send(let id, let bytes)): hear(id, .received(bytes))
        case .part(.readMeter): return .appliance(.measured(Measurement(deciwatts: machine.state.relayOn ? 600 : 0)))
        case .mirror(let records):
            actions.append(action)
            for record in records { mirror.append(record) }
        case .reserve(let boundary):
            actions.append(action)
            guard isFlashWritable else { return .reservationFailed }
            guard !isFlashSlow else {
                asked = boundary
                return nil
            }
            self.boundary = boundary
            return .reserved(boundary)
        case .persist:
            actions.append(action)
            return isFlashWritable ? nil : .appliance(.persistFailed)
        case .keep:
            actions.append(action)
            return isFlashWritable ? nil : .keepFailed
        case .factoryReset:
            actions.append(action)
            return isFlashWritable ? .resetStands : .resetFailed
        case .keepAudit:
            actions.append(action)
            return isFlashWritable ? .auditKept : .auditNotKept
        case .keepCode:
            actions.append(action)
            return isFlashWritable ? .codeKept : .codeNotKept
        case .keepSettings(let settings):
            actions.append(action)
            guard isFlashWritable else { return .settingsNotKept }
            self.settings = settings
            return .settingsKept
        case .part, .server, .setUpNetwork, .announce:
            actions.append(action)
        }
        return nil
    }

    mutating func hear(_ id: ConnectionID, _ event: ControllerSession.Event) {
        for action in controllers[id]?.handle(event, now: now) ?? [] {
            switch action {
            case .send(let bytes): feed(.server(.received(id, bytes)))
            case .deliver(let update): heard[id, default: []].append(update)
            case .close: break
            }
        }
    }

    mutating func join(
        _ id: ConnectionID, name: String, of key: PublicKey = .desk, events: SubscriptionOptions.Events = .fromNow
    ) {
        controllers[id] = ControllerSession(name: name)
        feed(.server(.opened(PlugServer.Opening(id, of: key))))
        hear(id, .connected)
        hear(id, .subscribe(SubscriptionOptions(events: events)))
    }

    mutating func command(_ request: RequestID, _ command: PlugCommand) {
        hear(desk, .command(request, command, deadline: now + .seconds(5)))
    }

    /// Changes the contact at the current time.
    mutating func edge(down: Bool) { feed(.appliance(.buttonEdge(down: down, at: now))) }

    mutating func press() {
        edge(down: true)
        run(for: .milliseconds(100))
        edge(down: false)
        run(for: .seconds(1))
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            feed(.deadlineReached)
        }
        now = end
    }

    func events(_ id: ConnectionID) -> [PlugEvent] {
        heard[id, default: []].compactMap { if case .event(let event, _) = $0 { event } else { nil } }
    }

    func gaps(_ id: ConnectionID) -> [Gap] {
        heard[id, default: []].compactMap { if case .subscribed(_, let gap) = $0 { gap } else { nil } }
    }

    func outcomes(_ id: ConnectionID, of request: RequestID) -> [CommandOutcome] {
        heard[id, default: []].compactMap {
            if case .commandFinished(request, let outcome) = $0 { outcome } else { nil }
        }
    }
}

extension PlugMachine.Action {
    var isStorage: Bool {
        switch self {
        case .mirror, .keep, .keepAudit, .keepSettings, .keepCode, .persist, .reserve, .factoryReset: true
        case .part, .server, .setUpNetwork, .announce: false
        }
    }
}
