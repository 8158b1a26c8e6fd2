import Metering
import PlugModel
import ProtocolCore

/// Encodes mirror records into consecutive bytes.
public struct MirrorEncoder: Sendable {
    /// The encoded records.
    public private(set) var bytes: [UInt8] = []

    /// Creates an encoder without bytes.
    public init() {}

    /// Removes the bytes but keeps their capacity.
    public mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a record with its length and checksum.
    public mutating func append(_ record: MirrorRecord) {
        let start = bytes.count
        for _ in 0..<MirrorRecord.headSize { bytes.append(0) }
        encode(record)
        let payload = start + MirrorRecord.headSize..<bytes.count
        precondition(payload.count <= MirrorRecord.longestPayload, "a record has \(payload.count) bytes")
        replace(at: start, with: UInt32(payload.count))
        replace(at: start + 4, with: Checksum.crc32(bytes.span.extracting(payload)))
    }

    private mutating func encode(_ record: MirrorRecord) {
        switch record {
        case .begins(let boot, let id):
            put([1, MirrorRecord.format] as [UInt8])
            put(boot.bytes)
            put(id.rawValue.utf8)
        case .journal(let origin, let reason, let next):
            put(2 as UInt8)
            put(origin)
            put(reason.mirrorCode)
            put(next)
        case .event(let event):
            put(3 as UInt8)
            put(event.sequence)
            put(event.time)
            encode(event.kind)
        case .leap(let next):
            put(4 as UInt8)
            put(next)
        case .request(let finished):
            put(5 as UInt8)
            put(finished.command.request.bytes)
            put(finished.command.authority.bytes)
            encode(finished.outcome)
        case .state(let state, let timers):
            put(6 as UInt8)
            put(state.relayOn)
            put(state.level.permille)
            put(state.milliwattHours)
            put(timers.autoOff) { $0.put($1) }
            put(state.tripped) { $0.put($1.mirrorCode) }
            put(timers.offSince) { $0.put($1) }
            put(timers.delayed?.rawValue ?? 0)
        case .sample(let sample, let energy):
            put(7 as UInt8)
            put(sample.milliseconds)
            put(sample.deciwatts)
            put(sample.decivolts) { $0.put($1) }
            put(sample.milliamperes) { $0.put($1) }
            put(energy)
        case .sealedChunk(let chunk):
            put(8 as UInt8)
            put(chunk.bytes)
        case .openChunk(let chunk):
            put(9 as UInt8)
            put(chunk.bytes)
        case .unnumbered(let event):
            put(10 as UInt8)
            put(event.time)
            encode(event.kind)
        case .brokerTook(let sequence):
            put(11 as UInt8)
            put(sequence)
        }
    }

    private mutating func encode(_ kind: PlugEvent.Kind) {
        switch kind {
        case .relayChanged(let on, let cause):
            put(on ? 2 : 1 as UInt8)
            encode(cause)
        case .buttonPressed(let press): put(press.mirrorCode)
        case .protectionTripped(let protection): put(protection.mirrorCode)
        case .protectionReset(let protection, let cause):
            put(19 as UInt8)
            put(protection.mirrorCode)
            encode(cause)
        case .restarted(let powerLost): put(powerLost ? 9 : 8 as UInt8)
        case .pairingFailed(let failures):
            put(10 as UInt8)
            put(failures)
        case .controllerPaired(let name):
            put(11 as UInt8)
            put(text: name)
        case .controllerRemoved(let name):
            put(12 as UInt8)
            put(text: name)
        }
    }

    private mutating func encode(_ cause: RelayCause) {
        switch cause {
        case .button: put(1 as UInt8)
        case .controller(let name, let request, let authority):
            put(2 as UInt8)
            put(text: name)
            put(request.bytes)
            put(authority.bytes)
        case .protection: put(3 as UInt8)
        case .timer: put(4 as UInt8)
        case .powerOn: put(5 as UInt8)
        }
    }

    private mutating func encode(_ outcome: CommandOutcome) {
        switch outcome {
        case .done(let state, let event):
            put(0 as UInt8)
            put(state.relayOn)
            put(state.level) { $0.put($1.permille) }
            put(state.reading) { encoder, reading in
                encoder.put(reading.time)
                encoder.put(reading.deciwatts)
                encoder.put(reading.decivolts) { $0.put($1) }
                encoder.put(reading.milliamperes) { $0.put($1) }
                encoder.put(reading.milliwattHours)
                encoder.put(reading.alternating) { $0.encode($1) }
            }
            put(state.tripped) { $0.put($1.mirrorCode) }
            put(event) { $0.put($1) }
        case .refused(let refusal):
            put(1 as UInt8)
            put(refusal.code.mirrorCode)
            put(text: refusal.detail)
        }
    }

    private mutating func encode(_ alternating: AlternatingPower) {
        put(alternating.apparentDecivoltAmperes)
        put(alternating.reactiveDecivars)
        put(alternating.powerFactorThousandths)
        put(alternating.millihertz) { $0.put($1) }
    }

    private mutating func put(_ value: some FixedWidthInteger) {
        var shift = value.bitWidth - 8
        while shift >= 0 {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
            shift -= 8
        }
    }

    private mutating func put(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
    private mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
    private mutating func put(_ time: Instant) { put(time.nanoseconds) }

    private mutating func put<Value>(_ value: Value?, _ encode: (inout MirrorEncoder, Value) -> Void) {
        put(value != nil)
        if let value { encode(&self, value) }
    }

    private mutating func put(text: String) {
        var text = text
        // The length field limits a text to 65,535 bytes. The firmware's own texts are shorter: names have at most 63
        // bytes, and refusals are a few sentences.
        while text.utf8.count > UInt16.max { text.removeLast(text.count / 2) }
        put(UInt16(text.utf8.count))
        put(text.utf8)
    }

    private mutating func replace(at index: Int, with value: UInt32) {
        for byte in 0..<4 { bytes[index + byte] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * byte)) }
    }
}
