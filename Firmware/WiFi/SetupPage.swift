public import AddressConfiguration
public import PlugModel
import ProtocolCore

/// The page on which a user selects the network that the plug joins. It needs no JavaScript, and loads nothing else.
public struct SetupPage: Hashable, Sendable {
    /// The name of the plug's own network.
    public var plug: WiFiName
    /// The networks to select from.
    public var found: [FoundNetwork]
    /// The last network that could not be joined.
    public var failure: WiFiReport.Failure?
    /// The known country.
    public var country: WiFiCountry?
    /// The network that the plug tries soon.
    public var isTrying: WiFiName?

    /// The page with the form.
    ///
    /// - Parameter mistake: the error in the form that was sent last.
    public func html(mistake: String? = nil) -> String {
        if let isTrying { return Self.document(plug, waiting(isTrying)) }
        var body = ""
        if let message = mistake ?? failure.map(Self.text) {
            body += "<p class=error role=alert>\(Self.escaped(message))</p>\n"
        }
        body += "<form method=post action=/join autocomplete=off>\n<fieldset><legend>Network</legend>\n"
        let joinable = found.filter { $0.security != .unsupported }
        let selected = joinable.firstIndex { $0.name == failure?.name } ?? 0
        for (index, network) in joinable.enumerated() {
            let lock = network.security == .open ? ", without a password" : ""
            body += """
                <label class=row><input type=radio name=network value=\(HexadecimalText.text(of: network.name.bytes))\
                \(index == selected ? " checked" : "")> <span>\(Self.escaped(network.name.description))\
                <small>\(Self.strength(network.signal)) signal\(lock)</small></span></label>\n
                """
        }
        let none = joinable.isEmpty ? " checked" : ""
        body += """
            <label class=row><input type=radio name=network value=""\(none)> <span>Another network</span></label>
            <label>Name of another network <input name=name maxlength=32 autocapitalize=none autocorrect=off spellcheck=false></label>
            </fieldset>
            <label>Password of the network <input type=password name=password maxlength=64 autocomplete=off></label>
            <label>Country, two letters <input name=country maxlength=2 size=2 autocapitalize=characters
             value="\(country?.rawValue ?? "")"></label>
            <p><small>The country decides which channels the plug may use. Leave it empty if you do not know it.</small></p>
            <details><summary>Fixed address</summary>
            <p><small>Without one, the network's router chooses the plug's address.</small></p>
            <label>Address and number of bits, such as 192.168.1.20/24 <input name=address maxlength=18 inputmode=url></label>
            <label>Router <input name=router maxlength=15 inputmode=url></label>
            <label>Name server <input name=name_server maxlength=15 inputmode=url></label>
            </details>
            <button>Connect</button>
            </form>

            """
        return Self.document(plug, body)
    }

    private func waiting(_ name: WiFiName) -> String {
        """
        <p role=status>The plug now connects to <b>\(Self.escaped(name.description))</b>. This takes up to 30 seconds, and the network
        <b>\(Self.escaped(plug.description))</b> is closed for that time.</p>
        <p>If the plug can connect, its network stays closed. Connect your phone to \(Self.escaped(name.description)) again.</p>
        <p>If it cannot connect, <b>\(Self.escaped(plug.description))</b> opens again. Connect to it, and this page shows the
        reason.</p>
        <p><a href=/>Show the state</a></p>

        """
    }

    /// The document with a heading around the content.
    static func document(_ plug: WiFiName, _ body: String) -> String {
        """
        <!doctype html>
        <html lang=en>
        <meta charset=utf-8>
        <meta name=viewport content="width=device-width, initial-scale=1">
        <title>\(escaped(plug.description)): Wi-Fi</title>
        <style>
        :root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif }
        body { max-width: 28rem; margin: 0 auto; padding: 1rem }
        fieldset { border: 1px solid #888; border-radius: .5rem; margin: 0 0 1rem; padding: .5rem 1rem 1rem }
        label { display: block; margin: .75rem 0 }
        label.row { display: flex; gap: .75rem; align-items: center; min-height: 2.75rem; margin: 0 }
        label.row input { flex: none; width: 1.25rem; height: 1.25rem }
        label.row span { overflow-wrap: anywhere }
        small { display: block; opacity: .75 }
        input:not([type=radio]) { box-sizing: border-box; display: block; font: inherit; min-height: 2.75rem; width: 100% }
        button { font: inherit; min-height: 2.75rem; width: 100% }
        .error { border-left: .25rem solid #c00; padding-left: .75rem }
        </style>
        <main>
        <h1>\(escaped(plug.description))</h1>
        \(body)</main>
        </html>

        """
    }

    private static func text(_ failure: WiFiReport.Failure) -> String {
        let reason =
            switch failure.reason {
            case .wrongPassword: "the network has a different password."
            case .notFound: "the plug does not find the network. It supports the 2.4 GHz band on most boards."
            case .rejected: "the network rejected the plug. Check the password."
            case .noAnswer: "the network did not answer in time. Check the password, or move the plug closer."
            case .notStored: "the plug's flash could not be written."
            }
        return "Cannot connect to \(failure.name): \(reason)"
    }

    private static func strength(_ signal: Int) -> String {
        switch signal {
        case (-55)...: "strong"
        case (-70)...: "good"
        default: "weak"
        }
    }

    /// Replaces the characters that have a meaning in HTML. A neighbour chooses the names of networks.
    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.append(character)
            }
        }
    }
}

/// The fields of the setup page's form.
public struct SetupForm: Hashable, Sendable {
    /// The network to join.
    public var network: WiFiNetwork
    /// The country; nil if its field is empty.
    public var country: WiFiCountry?
    /// The plug's address in the network; nil for one from a DHCP server.
    public var address: FixedAddress?

    /// An error in the form, as a sentence for the user.
    public struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// The limit of a form in bytes.
    public static let limit = 2048

    /// Decodes a form (`application/x-www-form-urlencoded`): `network` has the digits of a name from the page, and
    /// `name` a different one, which has precedence; `password`; `country`; `address`, `router` and `name_server` of the plug.
    public init(decoding body: [UInt8]) throws(Mistake) {
        guard body.count <= Self.limit else { throw Mistake(description: "The form is too long.") }
        var fields: [String: [UInt8]] = [:]
        for pair in body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : [])
            else { throw Mistake(description: "The form is not valid. Load the page again.") }
            fields[String(decoding: name, as: UTF8.self)] = value
        }
        func text(_ field: String) -> String { String(decoding: fields[field] ?? [], as: UTF8.self) }
        // A user who enters a name may leave the selection as it is.
        let entered = fields["name"] ?? []
        let name =
            entered.isEmpty
            ? HexadecimalText.bytes(of: fields["network"] ?? []).flatMap { WiFiName(bytes: $0) }
            : WiFiName(bytes: entered)
        guard let name else {
            throw Mistake(description: "Select a network, or enter the name of another one, 1 to 32 bytes.")
        }
        let secret = text("password")
        let password = secret.isEmpty ? nil : WiFiPassword(secret)
        guard secret.isEmpty || password != nil else {
            throw Mistake(
                description: "The password of a Wi-Fi network has 8 to 63 letters, digits and signs without accents.")
        }
        let letters = text("country")
        let country = letters.isEmpty ? nil : WiFiCountry(rawValue: letters)
        guard letters.isEmpty || country != nil else {
            throw Mistake(description: "The country has two letters, such as DE or US.")
        }
        network = WiFiNetwork(name, password: password)
        self.country = country
        address = try Self.address(text("address"), router: text("router"), nameServer: text("name_server"))
    }

    private static func address(_ address: String, router: String, nameServer: String) throws(Mistake) -> FixedAddress?
    {
        guard !address.isEmpty else {
            guard router.isEmpty, nameServer.isEmpty else {
                throw Mistake(description: "A router or a name server requires a fixed address.")
            }
            return nil
        }
        do throws(FixedAddress.Mistake) {
            return try FixedAddress(address, router: router, nameServers: nameServer.isEmpty ? [] : [nameServer])
        } catch {
            throw Mistake(description: "The fixed address cannot be used: \(error).")
        }
    }

    /// Replaces `+` by a space and `%NN` by a byte; nil if a `%` is not followed by two digits.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let value = HexadecimalText.bytes(of: Array(rest.prefix(2))) else {
                    return nil
                }
                bytes += value
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
