internal import ProtocolCore

/// When a plug lets itself be paired, and how fast somebody may guess its code: plug-wide, so that more connections do not
/// mean more guesses. Nobody is ever locked out.
struct PairingGate: Sendable {
    /// How long a plug without any controller can be paired after it started.
    static let factoryWindow = Duration.seconds(600)
    /// How long one can be paired after its button was held.
    static let buttonWindow = Duration.seconds(120)
    static let firstDelay = Duration.milliseconds(500)
    static let longestDelay = Duration.seconds(30)

    /// When the window closes, or when it closed.
    private(set) var closesAt: Instant?
    /// Wrong proofs since the last right one, or since somebody held the button.
    private(set) var failures: UInt32 = 0
    /// No proof is looked at before.
    private(set) var notBefore = Instant.zero

    func isOpen(at now: Instant) -> Bool { closesAt.map { now < $0 } ?? false }

    /// The window never gets shorter by this.
    mutating func open(for duration: Duration, now: Instant) {
        closesAt = max(closesAt ?? now, now + duration)
    }

    /// Whoever holds the button stands before the plug: the waiting is not for him.
    mutating func buttonHeld(now: Instant) {
        open(for: Self.buttonWindow, now: now)
        failures = 0
        notBefore = .zero
    }

    /// The next proof waits: twice as long after each that was wrong, up to ``longestDelay``.
    mutating func failed(now: Instant) {
        failures = failures == .max ? .max : failures + 1
        let doublings = min(Int(failures) - 1, 16)
        notBefore = now + min(Self.firstDelay * (1 << doublings), Self.longestDelay)
    }

    mutating func succeeded() {
        failures = 0
        notBefore = .zero
    }
}
