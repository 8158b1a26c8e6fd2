import LinuxClocks

/// A line of `plugctl daemon --json`: where the dashboard is.
public struct ServingRecord: Codable, Hashable, Sendable {
    /// serving.
    public var event: String
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    /// "http://127.0.0.1:7580/".
    public var address: String
    /// SHA-256 of the certificate that the daemon made itself, as browsers show it; left out where it is another's, or none.
    public var fingerprint: String?

    public init(address: String, fingerprint: String?) {
        event = "serving"
        at = WallTime.now.iso8601()
        self.address = address
        self.fingerprint = fingerprint
    }

    /// For a person.
    public var text: String {
        guard let fingerprint else { return "the dashboard is at \(address)" }
        return "the dashboard is at \(address), with a certificate that your browser shows as SHA-256 \(fingerprint)"
    }
}
