import NIOCore

/// Host and port of a Host header or an Origin (RFC 9110 section 7.2).
struct Authority: Hashable {
    /// The host in lower case, without a trailing dot; an IPv6 address has no brackets.
    var host: String
    var port: Int?

    /// Parses the text; nil if it is not a host with an optional port.
    init?(_ text: String) {
        // A name has at most 253 characters, a port five.
        guard text.utf8.count <= 260 else { return nil }
        let host: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard host.contains(":"), Self.isAddress(String(host)) else { return nil }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
            guard host.utf8.allSatisfy(Self.isOfName) else { return nil }
        }
        var name = host.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        guard !name.isEmpty else { return nil }
        self.host = name
        guard !rest.isEmpty else { return }
        let digits = rest.dropFirst()
        guard rest.first == ":", (1...5).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = Int(digits),
            port <= 65535
        else { return nil }
        self.port = port
    }

    /// True if the host is an IP address and not a name. DNS rebinding is not possible with an IP address.
    var isAddress: Bool { Self.isAddress(host) }

    private static func isAddress(_ text: String) -> Bool { (try? SocketAddress(ipAddress: text, port: 0)) != nil }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
