import Metering
import PlugModel
import ProtocolCore

/// Decodes mirror records from bytes.
public struct MirrorDecoder: Sendable {
    private let bytes: [UInt8]
    /// The index of the first byte of the last decoded record.
    public private(set) var offset = 0
    /// The index of the next record.
    private var start = 0
    /// The current position in the record, and its end.
    private var place = 0
    private var end = 0
    /// The format of the mirror, from its first record.
    private var format = MirrorRecord.format
    /// The boot of all events, from the first record.
    private var boot = BootID(bytes: [UInt8](repeating: 0, count: 16))!

    /// Creates a decoder at the beginning of the bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Decodes the next record, or returns nil at the end. After an error, no further record can be decoded.
    ///
    /// - Throws: ``MirrorFault`` if the bytes are not a valid record.
    public mutating func next() throws(MirrorFault) -> MirrorRecord? {
        guard start < bytes.count else { return nil }
        offset = start
        let head = MirrorRecord.headSize
        guard bytes.count - start >= head else { throw MirrorFault(.torn, at: start) }
        place = start
        end = start + head
        let length = Int(try integer(UInt32.self))
        let checksum = try integer(UInt32.self)
        guard (1...MirrorRecord.longestPayload).contains(length) else { throw MirrorFault(.badLength, at: start) }
        guard bytes.count - start - head >= length else { throw MirrorFault(.torn, at: start) }
        end = place + length
        guard Checksum.crc32(bytes.span.extracting(place..<end)) == checksum else {
            throw MirrorFault(.badChecksum, at: start)
        }
        let record = try record()
        guard place == end else { throw fault }
        start = end
        return record
    }

    private var fault: MirrorFault { MirrorFault(.badRecord, at: start) }

    private mutating func record() throws(MirrorFault) -> MirrorRecord {
        switch try integer(UInt8.self) {
        case 1: return try begins()
        case 2:
            let origin = try sequence()
            guard let reason = Gap.Reason(mirrorCode: try integer(UInt8.self)) else { throw fault }
            let next = try sequence()
            guard origin > 0, origin <= next else { throw fault }
            return .journal(origin: origin, lossBefore: reason, next: next)
        case 3:
            return .event(PlugEvent(sequence: try sequence(), boot: boot, time: try instant(), kind: try kind()))
        case 4: return .leap(to: try sequence())
        case 5: return .request(FinishedRequest(CommandID(try request(), of: try authority()), try outcome()))
        case 6:
            return try state()
        case 7:
            let sample = Sample(
                milliseconds: try integer(), deciwatts: try integer(), decivolts: try optionalInteger(),
                milliamperes: try optionalInteger())
            return .sample(sample, milliwattHours: try integer())
        case 8: return .sealedChunk(try chunk())
        case 9: return .openChunk(try chunk())
        case 10:
            let time = try instant()
            return .unnumbered(UnnumberedEvent(try kind(), at: time))
        case 11: return .brokerTook(try sequence())
        default: throw fault
        }
    }

    private mutating func begins() throws(MirrorFault) -> MirrorRecord {
        format = try integer()
        guard MirrorRecord.formats.contains(format), let boot = BootID(bytes: try read(16)),
            let id = PlugID(rawValue: String(decoding: try read(12), as: UTF8.self))
        else { throw fault }
        self.boot = boot
        return .begins(boot, id)
    }

    private mutating func kind() throws(MirrorFault) -> PlugEvent.Kind {
        switch try integer(UInt8.self) {
        case 1: return .relayChanged(on: false, cause: try cause())
        case 2: return .relayChanged(on: true, cause: try cause())
        case 8: return .restarted(powerLost: false)
        case 9: return .restarted(powerLost: true)
        case 10: return .pairingFailed(failures: try integer())
        case 11: return .controllerPaired(name: try text())
        case 12: return .controllerRemoved(name: try text())
        case 19: return .protectionReset(try protection(), cause: try cause())
        case let code:
            if let press = ButtonPress(mirrorCode: code) { return .buttonPressed(press) }
            guard let protection = Protection(mirrorCode: code) else { throw fault }
            return .protectionTripped(protection)
        }
    }

    private mutating func state() throws(MirrorFault) -> MirrorRecord {
        var state = StoredState(relayOn: try flag(), level: try level(), milliwattHours: try integer())
        var timers = ApplianceMemory.Timers()
        timers.autoOff = try optional { decoder throws(MirrorFault) in try decoder.instant() }
        guard format >= 2 else { return .state(state, timers) }
        state.tripped = try optional { decoder throws(MirrorFault) in try decoder.protection() }
        timers.offSince = try optional { decoder throws(MirrorFault) in try decoder.instant() }
        let delayed = try integer(UInt8.self)
        timers.delayed = DelayedStart(rawValue: delayed)
        guard delayed == 0 || timers.delayed != nil else { throw fault }
        return .state(state, timers)
    }

    private mutating func protection() throws(MirrorFault) -> Protection {
        guard let protection = Protection(mirrorCode: try integer(UInt8.self)) else { throw fault }
        return protection
    }

    private mutating func cause() throws(MirrorFault) -> RelayCause {
        switch try integer(UInt8.self) {
        case 1: return .button
        case 2: return .controller(name: try text(), request: try request(), authority: try authority())
        case 3: return .protection
        case 4: return .timer
        case 5: return .powerOn
        default: throw fault
        }
    }

    private mutating func outcome() throws(MirrorFault) -> CommandOutcome {
        guard try flag() else {
            var state = PlugState(
                relayOn: try flag(), level: try optional { decoder throws(MirrorFault) in try decoder.level() },
                reading: try optional { decoder throws(MirrorFault) in try decoder.reading() })
            if format >= 2 {
                state.tripped = try optional { decoder throws(MirrorFault) in try decoder.protection() }
            }
            return .done(state, event: try optional { decoder throws(MirrorFault) in try decoder.sequence() })
        }
        guard let code = Refusal.Code(mirrorCode: try integer(UInt8.self)) else { throw fault }
        return .refused(Refusal(code, try text()))
    }

    private mutating func reading() throws(MirrorFault) -> Reading {
        var reading = Reading(
            time: try instant(), deciwatts: try integer(), decivolts: try optionalInteger(),
            milliamperes: try optionalInteger(), milliwattHours: try integer())
        if format >= 2 {
            reading.alternating = try optional { decoder throws(MirrorFault) in try decoder.alternating() }
        }
        return reading
    }

    private mutating func alternating() throws(MirrorFault) -> AlternatingPower {
        AlternatingPower(
            apparentDecivoltAmperes: try integer(), reactiveDecivars: try integer(),
            powerFactorThousandths: try integer(), millihertz: try optionalInteger())
    }

    // MARK: Fields

    private mutating func read(_ count: Int) throws(MirrorFault) -> ArraySlice<UInt8> {
        guard end - place >= count else { throw fault }
        defer { place += count }
        return bytes[place..<place + count]
    }

    private mutating func integer<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(MirrorFault) -> Value {
        try read(Value.bitWidth / 8).reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    private mutating func flag() throws(MirrorFault) -> Bool {
        switch try integer(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw fault
        }
    }

    private mutating func optional<Value>(
        _ value: (inout MirrorDecoder) throws(MirrorFault) -> Value
    ) throws(MirrorFault) -> Value? {
        try flag() ? try value(&self) : nil
    }

    private mutating func optionalInteger<Value: FixedWidthInteger>() throws(MirrorFault) -> Value? {
        try optional { decoder throws(MirrorFault) in try decoder.integer() }
    }

    private mutating func sequence() throws(MirrorFault) -> SequenceNumber {
        let number = try integer(SequenceNumber.self)
        // No plug reaches a higher number, and adding to it must not overflow.
        guard number <= PlugWire.highestSequence else { throw fault }
        return number
    }

    private mutating func instant() throws(MirrorFault) -> Instant { Instant(nanoseconds: try integer()) }

    private mutating func level() throws(MirrorFault) -> DimLevel {
        guard let level = DimLevel(permille: Int(try integer(UInt16.self))) else { throw fault }
        return level
    }

    private mutating func request() throws(MirrorFault) -> RequestID { RequestID(bytes: try read(16))! }

    private mutating func authority() throws(MirrorFault) -> AuthorityID {
        format >= 3 ? AuthorityID(bytes: try read(16))! : .unknown
    }

    private mutating func text() throws(MirrorFault) -> String {
        let count = Int(try integer(UInt16.self))
        guard let text = String(validating: try read(count), as: UTF8.self) else { throw fault }
        return text
    }

    private mutating func chunk() throws(MirrorFault) -> SampleChunk {
        do {
            return try SampleChunk(bytes: Array(try read(end - place)))
        } catch {
            throw fault
        }
    }
}
