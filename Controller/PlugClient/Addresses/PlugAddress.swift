import DNSWire
import LinuxNetwork

/// The address of a plug that multicast DNS does not reach: a host name or an IP address, with a port. An address
/// grants nothing, because the plug must prove its pinned key as at any other address.
public struct PlugAddress: Hashable, Sendable, CustomStringConvertible {
    /// The port of an address without a port.
    public static let usualPort: UInt16 = 7001
    /// The maximum length of a host name (RFC 1035, section 2.3.4).
    static let longestHost = 253
    private static let longestLabel = 63
    /// The kernel's IFNAMSIZ without the terminating zero.
    private static let longestZone = 15
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// The host name or IP address, without brackets.
    public let host: String
    /// The TCP port.
    public let port: UInt16

    /// Parses `HOST`, `HOST:PORT`, `[IPv6]` or `[IPv6]:PORT`. An IPv6 address without a port needs no brackets.
    ///
    /// - Throws: ``PlugAddressError``.
    public init(_ text: String) throws(PlugAddressError) {
        guard !text.isEmpty else { throw .empty }
        guard !text.utf8.contains(UInt8(ascii: "/")) else { throw .path(text) }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw .openBracket(text) }
            host = try Self.ipv6(String(text[..<end].dropFirst()))
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw .afterBracket(String(rest)) }
            port = rest.isEmpty ? Self.usualPort : try Self.port(rest.dropFirst())
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else {
            (host, port) = (try Self.ipv6(text), Self.usualPort)
            return
        }
        host = try Self.host(String(parts[0]))
        port = parts.count == 2 ? try Self.port(parts[1]) : Self.usualPort
    }

    /// The text that ``init(_:)`` parses, with the port.
    public var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func port(_ text: Substring) throws(PlugAddressError) -> UInt16 {
        guard text.utf8.allSatisfy({ digits.contains($0) }), let port = UInt16(text), port > 0 else {
            throw .port(String(text))
        }
        return port
    }

    private static func ipv6(_ text: String) throws(PlugAddressError) -> String {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(text: String(parts[0])), address.family == .v6 else { throw .ipv6(text) }
        guard parts.count == 2 else {
            guard !address.isLinkLocal else { throw .zone(text) }
            return text
        }
        let zone = parts[1].utf8
        guard address.isLinkLocal, (1...longestZone).contains(zone.count), zone.allSatisfy(isAllowed) else {
            throw .ipv6(text)
        }
        return text
    }

    private static func host(_ text: String) throws(PlugAddressError) -> String {
        guard !text.isEmpty else { throw .empty }
        // The resolver would read a part of an IPv4 address, such as "10.1", as a different address.
        let dot = UInt8(ascii: ".")
        if text.utf8.allSatisfy({ digits.contains($0) || $0 == dot }) {
            guard text.utf8.count(where: { $0 == dot }) == 3, IPAddress(text: text)?.family == .v4 else {
                throw .ipv4(text)
            }
            return text
        }
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        let labels = name.utf8.split(separator: dot, omittingEmptySubsequences: false)
        let dash = UInt8(ascii: "-")
        guard name.utf8.count <= longestHost, name.utf8.first != dash,
            labels.allSatisfy({ (1...longestLabel).contains($0.count) && $0.allSatisfy(isAllowed) })
        else { throw .name(text) }
        return text
    }

    /// Returns true for the characters of a label, without the dot, and of an interface's name.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        case _: false
        }
    }
}

/// The reason why a text is not the address of a plug.
public enum PlugAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host is missing.
    case empty
    /// The text has a slash, such as a URL or a network.
    case path(String)
    /// The bracket of an IPv6 address is not closed.
    case openBracket(String)
    /// Text other than a port follows the bracket.
    case afterBracket(String)
    /// The port is not a number from 1 to 65535.
    case port(String)
    /// Only digits and dots, which are not an IPv4 address.
    case ipv4(String)
    /// Not an IPv6 address.
    case ipv6(String)
    /// A link-local address without its interface.
    case zone(String)
    /// Not a host name.
    case name(String)

    /// The message for the user.
    public var description: String {
        switch self {
        case .empty: "the host is missing; an address is HOST or HOST:PORT, such as 192.0.2.7:7001"
        case .path(let text): "\"\(text)\" has a slash; write only HOST or HOST:PORT, such as 192.0.2.7:7001"
        case .openBracket(let text): "the bracket in \"\(text)\" is not closed, as in [2001:db8::7]:7001"
        case .afterBracket(let text): "\"\(text)\" follows the bracket; only :PORT may follow, as in [2001:db8::7]:7001"
        case .port(let text): "the port must be 1 to 65535, not \"\(text)\""
        case .ipv4(let text): "\"\(text)\" is not an IPv4 address; it has four numbers from 0 to 255"
        case .ipv6(let text):
            "\"\(text)\" is not an IPv6 address; with a port, write it in brackets, as in [2001:db8::7]:7001"
        case .zone(let text):
            "\"\(text)\" is valid on one link only; append the interface, as in [\(text)%eth0]:7001"
        case .name(let text):
            "\"\(text)\" is not a host name; it has letters, digits, \"-\", \"_\" and dots (others as in xn--...)"
        }
    }
}
