import LinuxSystem

/// A line of `plugctl daemon --json` with the address of the dashboard.
public struct ServingRecord: Codable, Hashable, Sendable {
    /// Always "serving".
    public var event: String
    /// The time in ISO 8601, UTC, milliseconds.
    public var at: String
    /// The address of the page, such as "http://127.0.0.1:7580/".
    public var address: String
    /// The SHA-256 fingerprint of the daemon's self-signed certificate as browsers show it; omitted for a configured
    /// certificate and without TLS.
    public var fingerprint: String?

    /// Creates a record with the current time.
    public init(address: String, fingerprint: String?) {
        event = "serving"
        at = WallTime.now.iso8601()
        self.address = address
        self.fingerprint = fingerprint
    }

    /// Text for the user.
    public var text: String {
        guard let fingerprint else { return "the dashboard is at \(address)" }
        return "the dashboard is at \(address), with the certificate fingerprint SHA-256 \(fingerprint)"
    }
}
