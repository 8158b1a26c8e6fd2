import Appliance
import PlugProtocol

/// The text of the file that says who is paired: for each controller a line with its key in hexadecimal digits and its name,
/// in the order in which they were paired, and at the end `crc32` with the checksum of all that stands before. In names, bytes
/// below 0x20 and `%` are written as `%` and two hexadecimal digits.
///
/// Without its checksum a spoilt key would lock its owner out, and a line that is missing whole would not be noticed.
enum ControllersText {
    private static let digits = Array("0123456789abcdef".utf8)
    private static let escape = UInt8(ascii: "%")

    static func text(_ controllers: PairedControllers) -> String {
        var bytes: [UInt8] = []
        for controller in controllers.all {
            bytes += controller.key.bytes.flatMap(hexadecimal)
            bytes.append(UInt8(ascii: " "))
            for byte in controller.name.utf8 {
                bytes += byte < 0x20 || byte == escape ? [escape] + hexadecimal(byte) : [byte]
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes += checksumLine(of: bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Nil where it does not hold what it should.
    static func parse(_ text: String) -> PairedControllers? {
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let last = lines.popLast(), lines.count <= PairedControllers.limit else { return nil }
        guard Array(last) == checksumLine(of: Array(text.utf8[..<last.startIndex])) else { return nil }
        var controllers = PairedControllers()
        for line in lines {
            guard let space = line.firstIndex(of: UInt8(ascii: " ")), let bytes = Self.bytes(of: line[..<space]),
                let key = PublicKey(bytes: bytes), controllers[key] == nil,
                let name = Self.name(line[line.index(after: space)...]), name.utf8.count <= PlugWire.maximumName
            else { return nil }
            _ = controllers.add(PairedControllers.Controller(key: key, name: name))
        }
        return controllers
    }

    private static func checksumLine(of bytes: [UInt8]) -> [UInt8] {
        let sum = Checksum.crc32(bytes.span)
        return Array("crc32 ".utf8) + [24, 16, 8, 0].flatMap { hexadecimal(UInt8(truncatingIfNeeded: sum >> $0)) }
    }

    private static func name(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == escape else {
                bytes.append(byte)
                continue
            }
            guard let escaped = Self.bytes(of: rest.prefix(2)), escaped.count == 1 else { return nil }
            bytes += escaped
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> [UInt8] { [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }

    private static func bytes(of text: Substring.UTF8View) -> [UInt8]? {
        let values = text.compactMap { digits.firstIndex(of: $0) }
        guard values.count == text.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
