internal import ProtocolCore

/// The pairing window and the delay between proofs. The delay applies to the whole plug, so more connections do not
/// allow more guesses. No client is ever locked out.
struct PairingGate: Sendable {
    /// The time for which a plug without controllers can be paired after its firmware has started.
    static let factoryWindow = Duration.seconds(600)
    /// The time for which a plug can be paired after a person held its button.
    static let buttonWindow = Duration.seconds(120)
    /// The delay after the first wrong proof.
    static let firstDelay = Duration.milliseconds(500)
    /// The maximum delay.
    static let longestDelay = Duration.seconds(30)

    /// The time at which the window closes or closed. Nil if it never opened.
    private(set) var closesAt: Instant?
    /// The number of wrong proofs since the last correct one or the last long press of the button.
    private(set) var failures: UInt32 = 0
    /// The earliest time of the next check.
    private(set) var notBefore = Instant.zero

    func isOpen(at now: Instant) -> Bool { closesAt.map { now < $0 } ?? false }

    /// Opens the window or extends it. Never shortens it.
    mutating func open(for duration: Duration, now: Instant) {
        closesAt = max(closesAt ?? now, now + duration)
    }

    /// Opens the window and ends the delay, because a person at the plug is not a remote attacker.
    mutating func buttonHeld(now: Instant) {
        open(for: Self.buttonWindow, now: now)
        failures = 0
        notBefore = .zero
    }

    /// Counts a wrong proof and delays the next check: by ``firstDelay``, doubled with each further wrong proof up to
    /// ``longestDelay``.
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
