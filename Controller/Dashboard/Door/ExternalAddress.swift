/// Where browsers reach the dashboard through a proxy: the scheme, the name and the port of an address such as
/// `https://plugs.example.org:8443`. The owner states it; no header of a request can.
public struct ExternalAddress: Hashable, Sendable, CustomStringConvertible {
    let isSecure: Bool
    let host: String
    let port: Int

    /// Nil if the text is not the address of a whole site: a scheme, a host, and if needed a port.
    public init?(_ text: String) {
        let small = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: small.hasPrefix) else { return nil }
        let rest = small.dropFirst(scheme.count)
        guard let authority = Authority(String(rest.hasSuffix("/") ? rest.dropLast() : rest)) else { return nil }
        isSecure = scheme == "https://"
        host = authority.host
        port = authority.port ?? (isSecure ? 443 : 80)
    }

    /// As an Origin header has it (RFC 6454 section 6.2).
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return (isSecure ? "https://" : "http://") + name + (port == (isSecure ? 443 : 80) ? "" : ":\(port)")
    }
}
