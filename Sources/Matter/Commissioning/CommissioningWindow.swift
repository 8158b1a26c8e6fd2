import MatterSessions
import ProtocolCore

/// The commissioning window: the time in which commissioners can find the node and open a PASE session (Matter 5.4.2).
struct CommissioningWindow: Sendable {
    /// The limits of a window that an administrator opens (Matter 11.19.8.1).
    static let lengths = Duration.seconds(180)...Duration.seconds(900)

    /// The administrator that opened a window by a command.
    struct Administrator: Hashable, Sendable {
        var fabric: UInt8?
        let vendor: UInt16
    }

    /// An open window.
    struct Opening: Sendable {
        let verifier: SpakeVerifier
        let discriminator: UInt16
        /// True if the passcode is not the label's but one that an administrator chose.
        let isEnhanced: Bool
        /// The instance name of the announcement: 16 hexadecimal digits.
        let name: String
        let until: Instant
        /// The administrator, or nil if the button, the owner or the first start opened the window.
        var administrator: Administrator?
    }

    private(set) var opening: Opening?
    /// True while a PASE session exists. No second one can be opened, and the announcement is withdrawn.
    private(set) var isOccupied = false

    /// The verifier for a new PASE session, or nil if none can be opened.
    var verifier: SpakeVerifier? { isOccupied ? nil : opening?.verifier }

    /// The opening to announce, or nil if no PASE session can be opened.
    var announced: Opening? { isOccupied ? nil : opening }

    mutating func open(_ opening: Opening) { self.opening = opening }

    mutating func close() { opening = nil }

    mutating func occupy() { isOccupied = true }

    mutating func release() { isOccupied = false }

    /// Forgets the fabric of the administrator, which was removed.
    mutating func forget(fabric: UInt8) {
        if opening?.administrator?.fabric == fabric { opening?.administrator?.fabric = nil }
    }
}
