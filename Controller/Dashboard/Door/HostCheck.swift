import Presentation

/// Whether a request is meant for us: by its Host header. A page of another site that has its own name lead to our address (DNS
/// rebinding) would be of the same origin as ours to the browser, and is told from it by that name alone.
struct HostCheck: Sendable {
    private let names: Set<String>

    /// - Parameter names: what else we are called: the host's names where others may come, and what a person gave.
    init(names: [String]) {
        let ours = names.map { name -> String in
            let small = name.lowercased()
            return small.hasSuffix(".") ? String(small.dropLast()) : small
        }
        self.names = Set(ours + ["localhost"])
    }

    /// Nil where it is ours.
    ///
    /// - Parameter host: the one Host header; nil where there was none.
    func refusal(of host: String?) -> Refused? {
        guard let host else {
            return Refused(400, "the request has no Host header", hint: "HTTP/1.1 wants one (RFC 9112 section 3.2)")
        }
        guard let authority = Authority(host) else { return Refused(400, "the Host header is no name and no address") }
        guard !authority.isAddress, !names.contains(authority.host) else { return nil }
        return Refused(
            403, "this is not \(authority.host)",
            hint: "if it is one of this machine's names: plugctl daemon --host-name \(authority.host)")
    }
}
