public import Matter
import MatterSessions
public import MatterWire
public import ProtocolCore

/// A simulated plug with Matter: the machine with its shell, flash that can fail, and a relay.
public struct SimulatedMatterPlug: Sendable, CustomStringConvertible {
    /// A command of a Matter controller that the plug carried out.
    public struct Command: Sendable {
        public var command: NodeCommand
        /// The controller, as fabric index and node id.
        public var from: String?
    }

    /// The tested machine.
    public private(set) var device: MatterDevice
    /// The flash with the stored records.
    public var flash: MatterFlash
    /// The state of the relay, the dimmer and the meter.
    public private(set) var values = PlugValues(isOn: false, level: nil, reading: nil, isTripped: false)
    /// All commands so far.
    public private(set) var commands: [Command] = []
    /// All notices so far.
    public private(set) var notices: [MatterNotice] = []
    /// The code with which the plug answers commands.
    public var commandResult = InteractionStatusCode.success
    /// The number of requests to announce the device again.
    public private(set) var announcements = 0
    /// The multicast addresses of the groups whose datagrams the device receives.
    public private(set) var joined: Set<[UInt8]> = []
    /// True between a loss of power and ``start(now:)``.
    public private(set) var isOff = false
    /// The number of starts.
    public private(set) var starts = 1
    public var description: String { "the plug: \(notices.suffix(5))" }

    private let setup: MatterSetup
    private let seed: UInt64
    private var output: [(bytes: [UInt8], to: MatterPeer)] = []
    private var presses: UInt64 = 0

    /// Creates a started plug.
    public init(_ setup: MatterSetup, flash: MatterFlash = MatterFlash(), seed: UInt64, now: Instant) {
        (self.setup, self.flash, self.seed) = (setup, flash, seed)
        device = Self.device(setup, flash.records, seed: seed, start: 1)
        handle(.started, now: now)
        handle(.looked(values), now: now)
    }

    private static func device(
        _ setup: MatterSetup, _ records: MatterRecords, seed: UInt64, start: Int
    ) -> MatterDevice {
        MatterDevice(
            setup.configuration, records: records, cryptography: setup.cryptography,
            seed: MatterController.bytes(of: seed, for: "plug, start \(start)"))
    }

    /// Delivers an event to the machine, and performs its actions. Events without power are lost.
    public mutating func handle(_ event: MatterDevice.Event, now: Instant) {
        guard !isOff else { return }
        var due = device.handle(event, now: now)[...]
        while let action = due.popFirst() {
            switch action {
            case .send(let bytes, let peer): output.append((bytes, peer))
            case .ask(let ticket, let command, let from):
                commands.append(Command(command: command, from: from))
                if commandResult == .success { carryOut(command) }
                due += device.handle(.looked(values), now: now)
                due += device.handle(.answered(ticket, commandResult), now: now)
            case .store(let records): flash.store(records, now: now)
            case .announce: announcements += 1
            case .join(let addresses): joined = addresses
            case .notice(let notice): notices.append(notice)
            }
        }
    }

    private mutating func carryOut(_ command: NodeCommand) {
        switch command {
        case .on(let isOn, _): values.isOn = isOn
        case .level(let level, _, let withOnOff):
            values.level = level
            if withOnOff { values.isOn = true }
        case .identify: break
        }
    }

    /// Presses the button.
    public mutating func press(_ press: MatterPress = .single, now: Instant) {
        presses += 1
        handle(.pressed(press, number: presses), now: now)
    }

    /// Switches the relay at the plug.
    public mutating func toggle(now: Instant) {
        values.isOn.toggle()
        handle(.looked(values), now: now)
    }

    /// Removes and returns the sent datagrams.
    mutating func takeOutput() -> [(bytes: [UInt8], to: MatterPeer)] {
        defer { output = [] }
        return output
    }

    /// The time of the next deadline of the machine or of flash.
    public var nextDeadline: Instant? { isOff ? nil : sooner(device.nextDeadline, flash.next) }

    /// Handles the deadlines of flash and of the machine.
    public mutating func expire(now: Instant) {
        while !isOff, let fate = flash.finish(now: now) {
            switch fate {
            case .written: handle(.stored(true), now: now)
            case .failed: handle(.stored(false), now: now)
            case .lostPowerBefore, .lostPowerAfter: losePower()
            }
        }
        if !isOff, let deadline = device.nextDeadline, deadline <= now { handle(.deadlineReached, now: now) }
    }

    /// Ends the machine without a warning. Only flash survives.
    public mutating func losePower() {
        isOff = true
        output = []
        flash.losePower()
    }

    /// Starts a new machine from the stored records, which are decoded from their bytes.
    /// - Throws: `MatterError` if the records in flash are invalid.
    public mutating func start(now: Instant) throws {
        losePower()
        starts += 1
        device = Self.device(setup, try MatterRecords(decoding: flash.records.encoded), seed: seed, start: starts)
        isOff = false
        handle(.started, now: now)
        handle(.looked(values), now: now)
    }
}
