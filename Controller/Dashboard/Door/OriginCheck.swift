/// Checks that a request comes from the dashboard's own page, if the browser sends its origin. A page of another site
/// can send requests too, and the browser adds the user's cookie.
struct OriginCheck: Sendable {
    /// True if the dashboard's socket uses TLS. If false, a TLS proxy may still be in front of the dashboard.
    var isSecure: Bool
    /// The addresses under which proxies offer the page.
    var external: Set<ExternalAddress> = []

    /// Returns why the request is rejected; nil if it may pass.
    ///
    /// - Parameters:
    ///   - origins: every Origin header; programs send none.
    ///   - sites: every Sec-Fetch-Site header.
    ///   - host: the Host header, which was already checked.
    func refusal(origins: [String], sites: [String], host: String) -> Refused? {
        for site in sites where site != "same-origin" && site != "none" {
            return Refused(403, "the request comes from a page of a different site")
        }
        for origin in origins where !isOurs(origin, host: host) {
            var hint = "use the dashboard's own page"
            if let address = ExternalAddress(origin) {
                hint += "; if a proxy serves it at \(address): plugctl daemon --external-url \(address)"
            }
            return Refused(403, "the request comes from a page of a different site", hint: hint)
        }
        return nil
    }

    /// Returns true if the page was loaded by TLS through a proxy, so that its cookies are for TLS only.
    func isSecureOutside(origins: [String]) -> Bool {
        origins.contains { origin in
            ExternalAddress(origin).map { $0.isSecure && external.contains($0) } ?? false
        }
    }

    private func isOurs(_ origin: String, host: String) -> Bool {
        if let address = ExternalAddress(origin), !origin.hasSuffix("/"), external.contains(address) { return true }
        guard let own = Authority(host) else { return false }
        for scheme in isSecure ? ["https"] : ["http", "https"] where origin.lowercased().hasPrefix(scheme + "://") {
            guard let given = Authority(String(origin.dropFirst(scheme.count + 3))) else { return false }
            let usual = scheme == "https" ? 443 : 80
            return given.host == own.host && given.port ?? usual == own.port ?? usual
        }
        return false
    }
}
