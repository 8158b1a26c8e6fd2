package import PlugProtocol

/// The line of the file that says who is paired: for each controller its key in hexadecimal digits, a space and its name, in
/// the order in which they were paired, with `;` between them. In names, bytes below 0x20, `%` and `;` are written as `%` and
/// two hexadecimal digits.
package enum ControllersText {
    private static let digits = Array("0123456789abcdef".utf8)
    private static let escape = UInt8(ascii: "%")
    private static let separator = UInt8(ascii: ";")

    package static func text(_ controllers: PairedControllers) -> String {
        let entries = controllers.all.map { controller in
            controller.key.bytes.flatMap(hexadecimal) + [UInt8(ascii: " ")]
                + controller.name.utf8.flatMap { byte in
                    byte < 0x20 || byte == escape || byte == separator ? [escape] + hexadecimal(byte) : [byte]
                }
        }
        return String(decoding: Array(entries.joined(separator: [separator])), as: UTF8.self)
    }

    /// Nil where it does not hold what it should.
    package static func parse(_ text: String) -> PairedControllers? {
        var controllers = PairedControllers()
        guard !text.isEmpty else { return controllers }
        for entry in text.utf8.split(separator: separator, omittingEmptySubsequences: false) {
            guard let space = entry.firstIndex(of: UInt8(ascii: " ")), let bytes = Self.bytes(of: entry[..<space]),
                let key = PublicKey(bytes: bytes), controllers[key] == nil,
                let name = Self.name(entry[entry.index(after: space)...]), name.utf8.count <= PlugWire.maximumName
            else { return nil }
            guard controllers.add(PairedControllers.Controller(key: key, name: name)) else { return nil }
        }
        return controllers
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
