import PlugModel
import ProtocolCore

/// The 128-bit FNV-1a hash (draft-eastlake-fnv, section 2): it gives a command the same id whenever it is made from the
/// same cause. Collisions matter, secrecy does not: whoever writes a rule already commands the plugs.
struct FNV1a128 {
    static let offsetBasis: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    static let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013b

    private(set) var value = Self.offsetBasis

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt128(byte)) &* Self.prime }
    }

    mutating func add(_ number: UInt64) {
        add((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) })
    }

    /// With its length ahead, so that no two lists of texts run into the same bytes.
    mutating func add(_ text: String) {
        add(UInt64(text.utf8.count))
        add(text.utf8)
    }

    /// Big endian.
    var bytes: [UInt8] { value.bigEndianBytes }
}

extension UInt128 {
    var bigEndianBytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            withUnsafeBytes(of: bigEndian) { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
            count = 16
        }
    }
}

/// Where a firing's id begins: with all of its edge that stays the same from one edge to the next, hashed once. What is left is one
/// number: a time, or a place in a series.
///
/// Two numbers of one seed never give the same id, since each step of ``id(_:)`` can be undone; ids of different seeds meet no more
/// often than those of the hash do.
struct FiringSeed: Hashable, Sendable {
    private let value: UInt128

    /// - Parameters:
    ///   - kind: of the edge; each has its own numbers.
    ///   - trigger: its place among the rule's.
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

    /// Of what another id caused.
    init(_ kind: String, rule: String, after id: RequestID) {
        var hash = FNV1a128()
        hash.add(kind)
        hash.add(rule)
        hash.add(id.bytes)
        value = hash.value
    }

    func id(_ number: UInt64) -> RequestID { RequestID(key(number)) }

    /// The same as a number.
    func key(_ number: UInt64) -> UInt128 { value.mixed(number) }
}

extension RequestID {
    init(_ value: UInt128) {
        guard let id = RequestID(bytes: value.bigEndianBytes) else { preconditionFailure("128 bits are 16 bytes") }
        self = id
    }

    /// Big endian.
    var key: UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }

    /// Of a command or an effect of this firing: its action's place in the rule, and its plug's in the action.
    func part(action: Int, plug: Int = 0) -> RequestID { RequestID(key.part(action: action, plug: plug)) }
}

extension UInt128 {
    /// The same as ``RequestID/part(action:plug:)``, of ids as numbers.
    func part(action: Int, plug: Int = 0) -> UInt128 {
        mixed(UInt64(truncatingIfNeeded: (action + 1) << 20 + plug))
    }

    /// Whether it was made by ``part(action:plug:)`` of the other: made back, it leaves a place, which few numbers are.
    func isPart(of whole: UInt128) -> Bool {
        let place = unmixed ^ whole
        return place >> 20 != 0 && place >> 48 == 0
    }

    /// Multiplying by an odd number and folding the upper half onto the lower one can both be undone, so that different numbers
    /// give different values; twice, so that each bit of the number reaches all of them.
    fileprivate func mixed(_ number: UInt64) -> UInt128 {
        var value = (self ^ UInt128(number)) &* FNV1a128.prime
        value ^= value >> 64
        value = value &* Self.spread
        return value ^ value >> 64
    }

    /// What ``mixed(_:)`` made it of: the two numbers, one laid over the other.
    private var unmixed: UInt128 {
        let value = (self ^ self >> 64) &* Self.spread.inverse
        return (value ^ value >> 64) &* FNV1a128.prime.inverse
    }

    private static let spread: UInt128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835

    /// Of an odd number: what makes 1 of it. Each step doubles the bits that are right, of which there are three to begin with.
    private var inverse: UInt128 { (0..<6).reduce(self) { inverse, _ in inverse &* (2 &- self &* inverse) } }
}
