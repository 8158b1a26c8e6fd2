import PlugModel
package import PlugProtocol

/// The line of the file that says who is paired: for each controller its key in hexadecimal digits, a space and its name, in
/// the order in which they were paired, with `;` between them. In names, bytes below 0x20, `%` and `;` are written as `%` and
/// two hexadecimal digits.
package enum ControllersText {
    private static let separator = EscapedText.separator

    package static func text(_ controllers: PairedControllers) -> String {
        let entries = controllers.all.map { controller in
            controller.key.bytes.flatMap(EscapedText.hexadecimal) + [UInt8(ascii: " ")]
                + EscapedText.bytes(of: controller.name)
        }
        return String(decoding: Array(entries.joined(separator: [separator])), as: UTF8.self)
    }

    /// Nil where it does not hold what it should.
    package static func parse(_ text: String) -> PairedControllers? {
        var controllers = PairedControllers()
        guard !text.isEmpty else { return controllers }
        for entry in text.utf8.split(separator: separator, omittingEmptySubsequences: false) {
            guard let space = entry.firstIndex(of: UInt8(ascii: " ")),
                let bytes = EscapedText.values(of: entry[..<space]),
                let key = PublicKey(bytes: bytes), controllers[key] == nil,
                let name = EscapedText.text(entry[entry.index(after: space)...]),
                name.utf8.count <= PlugWire.maximumName
            else { return nil }
            guard controllers.add(PairedControllers.Controller(key: key, name: name)) else { return nil }
        }
        return controllers
    }
}
