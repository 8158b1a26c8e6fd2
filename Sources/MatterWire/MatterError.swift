/// The reasons why received or stored bytes, messages of handshakes and operations of the Matter modules are rejected.
public enum MatterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Bytes do not have the form that the specification requires. The text begins with the format's name: "TLV: ...".
    case invalid(String)
    /// Bytes are well-formed, and a value is outside a limit of this implementation.
    case exceedsLimit(String)
    /// A message or a certificate has an optional feature that this implementation does not have.
    case unsupported(String)
    /// A request of the interaction model is rejected with this status.
    case interaction(InteractionStatusCode, String)
    /// A message does not fit the state of a handshake or session.
    case unexpected(String)
    /// A signature, an authentication tag, a confirmation or an identity does not match.
    case notAuthentic(String)
    /// The peer reported this status.
    case reported(StatusReport)
    /// A cryptographic operation failed, or its library cannot be loaded.
    case cryptography(String)
    /// Stored records are invalid. They are not overwritten, because new records would remove all fabrics.
    case damagedRecords(String)

    public var description: String {
        switch self {
        case .invalid(let reason): "invalid \(reason)"
        case .exceedsLimit(let reason): "limit exceeded: \(reason)"
        case .unsupported(let reason): "unsupported: \(reason)"
        case .interaction(let code, let reason): "request rejected with \(code): \(reason)"
        case .unexpected(let reason): "unexpected \(reason)"
        case .notAuthentic(let reason): "not authentic: \(reason)"
        case .reported(let report): "the peer reported \(report)"
        case .cryptography(let reason): "cryptography failed: \(reason)"
        case .damagedRecords(let reason):
            "the Matter records are damaged: \(reason)\nhint: remove them to commission again; this removes all fabrics"
        }
    }

    /// The status that answers a request of the interaction model if decoding or checking it threw this error
    /// (Matter 8.10).
    public var interactionStatus: InteractionStatusCode {
        switch self {
        case .interaction(let code, _): code
        case .exceedsLimit: .resourceExhausted
        case .cryptography, .damagedRecords: .failure
        case .invalid, .unsupported, .unexpected, .notAuthentic, .reported: .invalidAction
        }
    }
}
