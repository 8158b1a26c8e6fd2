import Presentation

/// Checks the Host header of a request. It stops DNS rebinding: if another site's name resolves to this machine's
/// address, the browser treats the site and the dashboard as the same origin, and only the name in the header differs.
struct HostCheck: Sendable {
    private let names: Set<String>

    /// - Parameter names: the accepted names besides "localhost": the host's names if others may connect, and
    ///   configured names.
    init(names: [String]) {
        let ours = names.map { name -> String in
            let small = name.lowercased()
            return small.hasSuffix(".") ? String(small.dropLast()) : small
        }
        self.names = Set(ours + ["localhost"])
    }

    /// Returns why the request is rejected; nil if the header names this host.
    ///
    /// - Parameter host: the Host header; nil if it is missing.
    func refusal(of host: String?) -> Refused? {
        guard let host else {
            return Refused(400, "the request has no Host header", hint: "HTTP/1.1 requires one (RFC 9112 section 3.2)")
        }
        guard let authority = Authority(host) else { return Refused(400, "the Host header is not a name or address") }
        guard !authority.isAddress, !names.contains(authority.host) else { return nil }
        return Refused(
            403, "this is not \(authority.host)",
            hint: "if it is one of this machine's names: plugctl daemon --host-name \(authority.host)")
    }
}
