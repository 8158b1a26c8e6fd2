internal import Glibc

/// A server that a request connects to.
struct WebServer: Hashable, Sendable {
    let host: String
    let port: Int
}

/// A server that a file allows.
struct AllowedServer: Hashable, Sendable {
    /// The ports that are allowed if the file names none.
    private static let usualPorts: Set = [80, 443]

    private let host: String
    /// The allowed port; nil if the file names none, so that ``usualPorts`` are allowed.
    private let port: Int?

    /// Parses `hooks.example.org`, `192.0.2.7:8123`, `2001:db8::7` or `[2001:db8::7]:8123`. Returns nil if the text is
    /// not a server.
    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"/?#@\\".utf8.contains($0) })
        else { return nil }
        var name = text[...]
        var digits: Substring?
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            name = text[..<close].dropFirst()
            let rest = text[close...].dropFirst()
            guard rest.isEmpty || rest.hasPrefix(":"), name.contains(":") else { return nil }
            if !rest.isEmpty { digits = rest.dropFirst() }
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            (name, digits) = (text[..<colon], text[colon...].dropFirst())
        }
        port = digits.flatMap { Int($0) }
        if digits != nil {
            guard let port, (1...65_535).contains(port) else { return nil }
        }
        guard let host = Self.normal(String(name)), !host.isEmpty else { return nil }
        self.host = host
    }

    func matches(_ server: WebServer) -> Bool {
        guard Self.normal(server.host) == host else { return false }
        return port.map { $0 == server.port } ?? Self.usualPorts.contains(server.port)
    }

    /// Normalizes a host: lower case, without a final full stop, addresses as `inet_ntop` writes them. Returns nil for
    /// an invalid IPv6 address, and for a name that is not ASCII: a lower-cased or similar-looking letter could make
    /// two different hosts equal.
    private static func normal(_ host: String) -> String? {
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var name = host.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        var version4 = in_addr()
        if inet_pton(AF_INET, name, &version4) == 1 { return name }
        var version6 = in6_addr()
        guard inet_pton(AF_INET6, name, &version6) == 1 else { return name.contains(":") ? nil : name }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &version6, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
