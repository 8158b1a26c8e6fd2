import PlugModel
import ProtocolCore

/// Writes the values of a ``StoredRuleState`` in order.
package struct MemoryWriter {
    private(set) var bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// The bytes followed by their hash.
    package var sealed: [UInt8] { bytes + Self.hash(bytes[...]) }

    static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var hash = FNV1a128()
        hash.add(bytes)
        return hash.bytes
    }

    mutating func put(_ more: [UInt8]) { bytes += more }

    mutating func put<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func put(_ instant: Instant) { put(UInt64(bitPattern: instant.nanoseconds)) }

    /// Writes a duration. A negative one becomes zero: a clock that was set back may make an age negative.
    mutating func put(_ duration: Duration) { put(UInt64(max(0, duration.wholeNanoseconds))) }

    mutating func put(_ value: Double) { put(value.bitPattern) }

    mutating func put(_ flag: Bool) { put(UInt8(flag ? 1 : 0)) }

    /// Writes a flag for the value's presence, then the value.
    mutating func put<Value>(optional value: Value?, _ put: (inout MemoryWriter, Value) -> Void) {
        self.put(value != nil)
        if let value { put(&self, value) }
    }

    mutating func put(_ text: String) { put(text, atMost: StoredRuleState.maximumText) }

    /// Writes a text of an effect. A cut text could change what a program or server does, so
    /// ``EffectRequest/Effect/fits`` rejects longer ones.
    mutating func put(words text: String) { put(text, atMost: StoredRuleState.maximumWords) }

    mutating func put(_ text: String, atMost limit: Int) {
        var text = text
        while text.utf8.count > limit { text.removeLast() }
        put(UInt16(text.utf8.count))
        put(Array(text.utf8))
    }

    mutating func put(_ id: PlugID) { put(Array(id.rawValue.utf8)) }

    mutating func put(_ cursor: SequenceNumber?) {
        put(UInt8(cursor == nil ? 0 : 1))
        put(cursor ?? 0)
    }

    mutating func put(_ command: StoredRuleState.Command) {
        put(command.request.id.bytes)
        put(command.request.plug)
        put(optional: command.plug) { $0.put($1) }
        put(command.rule)
        put(command.cause)
        put(command.event)
        put(command.until)
        put(command.request.command)
    }

    mutating func put(_ command: PlugCommand) {
        switch command {
        case .setRelay(let on, let autoOff):
            put(UInt8(on ? 1 : 0))
            put(UInt64(bitPattern: autoOff?.wholeNanoseconds ?? -1))
        case .setLevel(let level, let transition):
            put(UInt8(2))
            put(level.permille)
            put(UInt64(bitPattern: transition.wholeNanoseconds))
        case .identify: put(UInt8(3))
        case .resetProtection: put(UInt8(4))
        case .rename, .configure: preconditionFailure("no rule changes what a plug is called or how it is set up")
        }
    }
}
