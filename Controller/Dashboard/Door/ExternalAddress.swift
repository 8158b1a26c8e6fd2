/// The address under which browsers reach the dashboard through a proxy: scheme, name and port, for example
/// `https://plugs.example.org:8443`. Only the configuration sets it, never a header of a request.
public struct ExternalAddress: Hashable, Sendable, CustomStringConvertible {
    let isSecure: Bool
    let host: String
    let port: Int

    /// Parses an address with a scheme, a host and an optional port; nil if it contains anything else.
    public init?(_ text: String) {
        let small = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: small.hasPrefix) else { return nil }
        let rest = small.dropFirst(scheme.count)
        guard let authority = Authority(String(rest.hasSuffix("/") ? rest.dropLast() : rest)) else { return nil }
        isSecure = scheme == "https://"
        host = authority.host
        port = authority.port ?? (isSecure ? 443 : 80)
    }

    /// The form of an Origin header (RFC 6454 section 6.2).
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return (isSecure ? "https://" : "http://") + name + (port == (isSecure ? 443 : 80) ? "" : ":\(port)")
    }
}
