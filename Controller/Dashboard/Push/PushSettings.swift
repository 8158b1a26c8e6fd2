/// The settings of notifications by Web Push.
public struct PushSettings: Hashable, Sendable {
    /// The origins (RFC 6454 section 6.2) of push services that may have an address in the local network, or a port
    /// other than 443. All other services need a public name and port 443.
    public var services: Set<String> = []
    /// A file with certificates (PEM) of the authorities that are trusted for ``services``; nil for those of the system.
    public var authority: String?
    /// The address at which the operator of a push service reaches the owner: `mailto:` or `https:` (RFC 8292
    /// section 2.1).
    public var contact = "https://smartplug.invalid"

    /// Creates settings without own push services.
    public init() {}

    /// Adds a push service. Returns false if the text is not an https address with a host and an optional port.
    public mutating func add(service text: String) -> Bool {
        guard let address = ExternalAddress(text), address.isSecure else { return false }
        services.insert(address.description)
        return true
    }

    /// Returns true if the text can be a contact: a `mailto:` or `https:` address in ASCII of at most 200 bytes.
    public static func isContact(_ text: String) -> Bool {
        let scheme = ["mailto:", "https://"].first(where: text.hasPrefix)
        return scheme.map { text.utf8.count > $0.utf8.count } ?? false && text.utf8.count <= 200
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
