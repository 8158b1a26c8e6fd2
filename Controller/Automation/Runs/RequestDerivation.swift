import PlugModel
import ProtocolCore

/// The 128-bit FNV-1a hash (draft-eastlake-fnv, section 2). It gives a command the same id whenever it has the same
/// cause. Accidental collisions must be rare. Protection against deliberate ones is not needed: the author of a rule
/// can command the plugs anyway.
package struct FNV1a128 {
    static let offsetBasis: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    static let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013b

    package private(set) var value = Self.offsetBasis

    package init() {}

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt128(byte)) &* Self.prime }
    }

    package mutating func add(_ number: UInt64) {
        add((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) })
    }

    /// Adds the length before the text, so that different lists of texts give different bytes.
    package mutating func add(_ text: String) {
        add(UInt64(text.utf8.count))
        add(text.utf8)
    }

    /// The 16 bytes of the hash in big-endian order.
    package var bytes: [UInt8] { value.bigEndianBytes }
}

extension UInt128 {
    var bigEndianBytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            withUnsafeBytes(of: bigEndian) { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
            count = 16
        }
    }
}

/// The constant part of a trigger's firing ids: a hash of everything that is equal for all edges of the trigger. The
/// variable part of an id is one number: a time, or a position in a series.
///
/// Two numbers with one seed never give the same id, because each step of ``id(_:)`` is reversible. Ids of different
/// seeds collide as rarely as the hash.
struct FiringSeed: Hashable, Sendable {
    private let value: UInt128

    /// - Parameters:
    ///   - kind: the kind of the edge. Each kind has its own number space.
    ///   - trigger: the trigger's place in the rule.
    init(_ kind: String, rule: String, trigger: Int, plug: String = "", boot: BootID? = nil) {
        var hash = FNV1a128()
        hash.add(kind)
        hash.add(rule)
        hash.add(UInt64(trigger))
        hash.add(plug)
        hash.add(UInt64(boot?.bytes.count ?? 0))
        hash.add(boot?.bytes ?? [])
        value = hash.value
    }

    /// Creates the seed of a firing that an earlier firing or script call with this id caused.
    init(_ kind: String, rule: String, after id: RequestID) {
        var hash = FNV1a128()
        hash.add(kind)
        hash.add(rule)
        hash.add(id.bytes)
        value = hash.value
    }

    func id(_ number: UInt64) -> RequestID { RequestID(key(number)) }

    /// The id as a number.
    func key(_ number: UInt64) -> UInt128 { value.mixed(number) }
}

extension RequestID {
    init(_ value: UInt128) {
        guard let id = RequestID(bytes: value.bigEndianBytes) else { preconditionFailure("128 bits are 16 bytes") }
        self = id
    }

    /// The id as a number, from its bytes in big-endian order.
    package var key: UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }

    /// Returns the id of a command or an effect of this firing, from the action's place in the rule and the plug's
    /// place in the action.
    func part(action: Int, plug: Int = 0) -> RequestID { RequestID(key.part(action: action, plug: plug)) }
}

extension UInt128 {
    /// Returns the same id as ``RequestID/part(action:plug:)``, as a number.
    func part(action: Int, plug: Int = 0) -> UInt128 {
        mixed(UInt64(truncatingIfNeeded: (action + 1) << 20 + plug))
    }

    /// Returns true if ``part(action:plug:)`` of `whole` can return this number. The reversed mix gives the place of
    /// the part. A number that is not a part gives a plausible place with a probability of about 2^-80.
    func isPart(of whole: UInt128) -> Bool {
        let place = unmixed ^ whole
        return place >> 20 != 0 && place >> 48 == 0
    }

    /// Mixes a number into the value. Multiplication by an odd number and folding the upper half into the lower half
    /// are reversible, so that different numbers give different values. Two rounds let each bit of the number affect
    /// all bits.
    fileprivate func mixed(_ number: UInt64) -> UInt128 {
        var value = (self ^ UInt128(number)) &* FNV1a128.prime
        value ^= value >> 64
        value = value &* Self.spread
        return value ^ value >> 64
    }

    /// Reverses ``mixed(_:)``. The result is the exclusive or of the original value and the number that was mixed in.
    private var unmixed: UInt128 {
        let value = (self ^ self >> 64) &* Self.spread.inverse
        return (value ^ value >> 64) &* FNV1a128.prime.inverse
    }

    private static let spread: UInt128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835

    /// The multiplicative inverse of an odd number modulo 2^128. Newton's iteration starts with three correct bits and
    /// doubles them in each step.
    private var inverse: UInt128 { (0..<6).reduce(self) { inverse, _ in inverse &* (2 &- self &* inverse) } }
}
