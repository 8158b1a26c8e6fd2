import PlugModel

/// The client identifier of a plug for DHCP servers (RFC 4361 §6.1): type 255, a number for the interface, and a DUID
/// of type UUID (RFC 6355) that does not depend on the network card.
enum ClientIdentifier {
    static func bytes(plug: PlugID, interface: String) -> [UInt8] {
        let number = hash(interface)
        let association = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        return [255] + association + [0, 4] + uuid(plug)
    }

    /// Returns a UUID of "smartplug-" and the six bytes of the id, with the version 8 of RFC 9562 (custom format).
    private static func uuid(_ plug: PlugID) -> [UInt8] {
        let digits = plug.rawValue.compactMap(\.hexDigitValue)
        var bytes = Array("smartplug-".utf8)
        bytes += stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes
    }

    /// Returns the FNV-1a hash, so that an interface has the same number after each start.
    private static func hash(_ text: String) -> UInt32 {
        text.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
