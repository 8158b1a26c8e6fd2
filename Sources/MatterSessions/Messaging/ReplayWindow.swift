/// The message counters that a peer has used: the highest one, and which of the 32 below it (Matter 4.6.5).
struct ReplayWindow: Sendable {
    enum Verdict: Hashable, Sendable {
        case new
        case duplicate
        /// The counter is below the window, so the message may or may not be a duplicate.
        case unknown
    }

    /// The counter of the newest message, or nil before the first message.
    private var highest: UInt32?
    /// Bit n is set if the message with the counter `highest - 1 - n` was received.
    private var received: UInt32 = 0
    private let isEncrypted: Bool

    /// Creates a window without messages.
    ///
    /// - Parameter isEncrypted: false if a counter below the window is new. Such a counter means that the peer has
    ///   restarted, and a peer that does not encrypt cannot prove it (Matter 4.6.5.3).
    init(isEncrypted: Bool) { self.isEncrypted = isEncrypted }

    /// Returns true if no message with a higher counter was recorded.
    func isHighest(_ counter: UInt32) -> Bool { highest.map { counter >= $0 } ?? true }

    /// Classifies a counter without recording it.
    func verdict(of counter: UInt32) -> Verdict {
        guard let highest, counter <= highest else { return .new }
        let distance = highest - counter
        guard distance > 0 else { return .duplicate }
        guard distance <= MessageLayer.Limits.window else { return isEncrypted ? .unknown : .new }
        return received >> (distance - 1) & 1 == 0 ? .new : .duplicate
    }

    /// Records the counter of a message that was accepted as new.
    mutating func record(_ counter: UInt32) {
        guard let highest else {
            self.highest = counter
            return
        }
        if counter > highest {
            let step = counter - highest
            // A shift by more than the width gives 0.
            received = received << step | (step <= MessageLayer.Limits.window ? 1 << (step - 1) : 0)
            self.highest = counter
        } else if highest - counter > MessageLayer.Limits.window {
            (self.highest, received) = (counter, 0)
        } else if counter < highest {
            received |= 1 << (highest - counter - 1)
        }
    }
}
