/// The address at a push service to which messages for one browser are sent (RFC 8030 §5).
///
/// A browser sends the address, so any user of the dashboard can choose it. The daemon must not send requests to hosts
/// of the local network for such a user. So the address is `https` at the usual port of a public name, unless the
/// owner listed the service. A public name can still resolve to a local address: TLS then fails, because the local host
/// has no certificate for the name, and no request is sent.
public struct PushEndpoint: Hashable, Sendable {
    /// The maximum length in bytes. The addresses of today's push services have fewer than 1,000 bytes.
    public static let longest = 2048

    /// The reason why an address is not accepted.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case tooLong
        case notHTTPS
        /// The host is an IP address, or a name that exists only in a local network.
        case notPublic
        case otherPort

        /// A description for people, without the address, which is a secret.
        public var description: String {
            switch self {
            case .tooLong: "the address has more than \(PushEndpoint.longest) bytes"
            case .notHTTPS: "it is not an https address"
            case .notPublic: "the host is not a public name"
            case .otherPort: "the port is not 443"
            }
        }
    }

    /// The address. It lets its holder send requests to the push service, so it is a secret.
    public let url: String
    /// The scheme, the host in lower case, and the port if it is not 443 (RFC 6454 §6.2).
    public let origin: String

    /// Names that have no public meaning: special-use names (RFC 6761, 6762, 7686, 8375), `internal`, which ICANN
    /// reserves for private use, and names that home routers use.
    private static let localNames: Set<Substring> = [
        "localhost", "local", "internal", "test", "invalid", "example", "onion", "arpa", "alt", "lan", "home", "corp",
        "intranet", "private", "localdomain",
    ]

    /// Checks an address.
    ///
    /// - Parameter listed: the origins of services that the owner listed. Their hosts and ports are not checked.
    /// - Throws: ``Fault``.
    public init(_ text: String, listed: Set<String> = []) throws(Fault) {
        guard text.utf8.count <= Self.longest else { throw .tooLong }
        let scheme = "https://"
        guard text.hasPrefix(scheme), text.utf8.allSatisfy(Self.isOfURL) else { throw .notHTTPS }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }.lowercased()
        // Without "@" and "%" all parsers of URLs agree on the host.
        guard !authority.isEmpty, authority.utf8.allSatisfy(Self.isOfAuthority) else { throw .notHTTPS }
        let usualPort = ":443"
        let place = authority.hasSuffix(usualPort) ? String(authority.dropLast(usualPort.count)) : authority
        url = text
        origin = scheme + place
        guard !listed.contains(origin) else { return }
        let host = place.prefix { $0 != ":" }
        guard Self.isPublic(host) else { throw .notPublic }
        guard host.endIndex == place.endIndex else { throw .otherPort }
    }

    /// Returns true for a name of at least two labels whose last label is neither a number nor local. A browser or a
    /// resolver reads a name with a number at its end as an IPv4 address.
    private static func isPublic(_ host: Substring) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, host.utf8.count <= 253, let last = labels.last,
            labels.allSatisfy({ (1...63).contains($0.utf8.count) && $0.first != "-" && $0.last != "-" }),
            host.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || isOfLabel($0) })
        else { return false }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let isName = last.hasPrefix("xn--") || last.utf8.allSatisfy { letters.contains($0) }
        return isName && !localNames.contains(last)
    }

    private static func isOfLabel(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        case _: false
        }
    }

    /// Visible ASCII without quotes, brackets, a backslash and a fragment. Parsers differ in how they read these.
    private static func isOfURL(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
    }

    private static func isOfAuthority(_ byte: UInt8) -> Bool { isOfLabel(byte) || ".:[]".utf8.contains(byte) }
}

/// The address is a secret, so it is not printed.
extension PushEndpoint: CustomStringConvertible, CustomReflectable {
    /// The origin of the push service.
    public var description: String { origin }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
