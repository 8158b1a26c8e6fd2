import PlugProtocol
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
    var bytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: value >> (120 - 8 * $0)) } }
}

/// The edge from which a command's id is derived.
enum RequestOrigin: Hashable, Sendable {
    /// An event of a plug's journal: its number is unique in the plug's life.
    case event(plug: String, SequenceNumber)
    /// A threshold crossed at a time of a plug's boot, and which of the rule's triggers saw it.
    case reading(plug: String, boot: BootID?, time: Instant, trigger: Int)
}

extension RequestID {
    /// `position`: the command's place among all commands of the rule.
    init(_ origin: RequestOrigin, rule: String, position: Int) {
        var hash = FNV1a128()
        switch origin {
        case .event(let plug, let sequence):
            hash.add("event")
            hash.add(plug)
            hash.add(sequence)
        case .reading(let plug, let boot, let time, let trigger):
            hash.add("reading")
            hash.add(plug)
            hash.add(UInt64(boot?.bytes.count ?? 0))
            hash.add(boot?.bytes ?? [])
            hash.add(UInt64(bitPattern: time.nanoseconds))
            hash.add(UInt64(trigger))
        }
        hash.add(rule)
        hash.add(UInt64(bitPattern: Int64(position)))
        guard let id = RequestID(bytes: hash.bytes) else { preconditionFailure("128 bits are 16 bytes") }
        self = id
    }
}
