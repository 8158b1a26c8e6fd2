import PlugModel
package import PlugProtocol

/// The format of the line that lists the paired controllers in pairing order, separated by `;`. Each entry has the key
/// in hexadecimal digits and optional fields: `,role=` with the role unless it is owner, `,left=` with the remaining
/// seconds if its access is limited in time, `,next=` with the announced key, `,known=` with the authority of its
/// requests if it differs from the key's, and `,plug=` with the beginning of the hash of the plug's next key if the
/// controller has stored that key. A space and the name follow. In names, bytes below 0x20, `%` and `;` are written as
/// `%` and two hexadecimal digits.
package enum ControllersText {
    private static let separator = EscapedText.separator

    /// Returns the line for the controllers.
    package static func text(_ controllers: PairedControllers) -> String {
        let entries = controllers.all.map { controller in
            controller.key.bytes.flatMap(EscapedText.hexadecimal) + Array(rights(of: controller).utf8)
                + [UInt8(ascii: " ")] + EscapedText.bytes(of: controller.name)
        }
        return String(decoding: Array(entries.joined(separator: [separator])), as: UTF8.self)
    }

    /// Parses the line. Returns nil if it is not valid.
    package static func parse(_ text: String) -> PairedControllers? {
        var controllers = PairedControllers()
        guard !text.isEmpty else { return controllers }
        for entry in text.utf8.split(separator: separator, omittingEmptySubsequences: false) {
            guard let space = entry.firstIndex(of: UInt8(ascii: " ")),
                var controller = controller(entry[..<space]), controllers[controller.key] == nil,
                let name = EscapedText.text(entry[entry.index(after: space)...]),
                name.utf8.count <= PlugWire.maximumName
            else { return nil }
            controller.name = name
            guard controllers.add(controller) else { return nil }
        }
        return controllers
    }

    private static func rights(of controller: PairedControllers.Controller) -> String {
        let role = controller.role == .owner ? "" : ",role=\(controller.role.rawValue)"
        let time = controller.secondsLeft.map { ",left=\($0)" } ?? ""
        let next = controller.nextKey.map { ",next=" + digits($0.bytes) } ?? ""
        let isOfKey = controller.authority == AuthorityID(controller.key)
        return role + time + next + (isOfKey ? "" : ",known=" + digits(controller.authority.bytes))
            + (controller.knownNext.map { ",plug=" + digits($0.bytes) } ?? "")
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap(EscapedText.hexadecimal), as: UTF8.self)
    }

    /// Parses a controller without its name. Returns nil if the text is not valid.
    private static func controller(_ text: Substring.UTF8View) -> PairedControllers.Controller? {
        var fields = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)[...]
        guard let digits = fields.popFirst(), let bytes = EscapedText.values(of: digits),
            let key = PublicKey(bytes: bytes)
        else { return nil }
        var controller = PairedControllers.Controller(key: key, name: "")
        for field in fields {
            let words = String(field)?.split(separator: "=", omittingEmptySubsequences: false) ?? []
            guard words.count == 2 else { return nil }
            switch words[0] {
            case "role":
                guard let role = Role(rawValue: String(words[1])) else { return nil }
                controller.role = role
            case "left":
                guard let seconds = UInt32(words[1]) else { return nil }
                controller.secondsLeft = seconds
            case "next":
                guard let next = EscapedText.values(of: words[1].utf8).flatMap({ PublicKey(bytes: $0) }) else {
                    return nil
                }
                controller.nextKey = next
            case "plug":
                guard let known = EscapedText.values(of: words[1].utf8).flatMap({ AuthorityID(bytes: $0) }) else {
                    return nil
                }
                controller.knownNext = known
            case "known":
                guard let known = EscapedText.values(of: words[1].utf8).flatMap({ AuthorityID(bytes: $0) }) else {
                    return nil
                }
                controller.authority = known
            case _: return nil
            }
        }
        return controller
    }
}
