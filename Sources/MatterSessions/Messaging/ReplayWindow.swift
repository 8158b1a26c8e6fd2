/// The message counters that a peer has used: the highest one, and which of the 32 below it (Matter 4.6.5).
struct ReplayWindow: Sendable {
    enum Verdict: Hashable, Sendable {
        case new
        case duplicate
        /// The counter is below the window, so the message may or may not be a duplicate.
        case unknown
    }

    /// The counters that a sender uses.
    enum Counters: Hashable, Sendable {
        /// The counters of a session. They end at the last value, because a nonce must not be used again.
        case ascending
        /// The counters of a peer that does not encrypt. One below the window means that the peer has restarted, which
        /// it cannot prove (Matter 4.6.5.3).
        case restarting
        /// The counters of a sender to groups. 0 follows the last value (Matter 4.6.5.2.2).
        case wrapping
    }

    /// The counter of the newest message, or nil before the first message.
    private var highest: UInt32?
    /// Bit n is set if the message with the counter `highest - 1 - n` was received.
    private var received: UInt32 = 0
    private let counters: Counters

    /// Creates a window without messages.
    init(_ counters: Counters) { self.counters = counters }

    /// Returns true if no message with a higher counter was recorded.
    func isHighest(_ counter: UInt32) -> Bool { highest.map { counter == $0 || isAbove(counter, $0) } ?? true }

    private func isAbove(_ counter: UInt32, _ other: UInt32) -> Bool {
        switch counters {
        case .ascending, .restarting: counter > other
        case .wrapping: Int32(bitPattern: counter &- other) > 0
        }
    }

    /// Classifies a counter without recording it.
    func verdict(of counter: UInt32) -> Verdict {
        guard let highest, !isAbove(counter, highest) else { return .new }
        let distance = highest &- counter
        guard distance > 0 else { return .duplicate }
        guard distance <= MessageLayer.Limits.window else { return counters == .restarting ? .new : .unknown }
        return received >> (distance - 1) & 1 == 0 ? .new : .duplicate
    }

    /// Records the counter of a message that was accepted as new.
    mutating func record(_ counter: UInt32) {
        guard let highest else {
            self.highest = counter
            return
        }
        let distance = highest &- counter
        if isAbove(counter, highest) {
            let step = counter &- highest
            // A shift by more than the width gives 0.
            received = received << step | (step <= MessageLayer.Limits.window ? 1 << (step - 1) : 0)
            self.highest = counter
        } else if distance > MessageLayer.Limits.window {
            (self.highest, received) = (counter, 0)
        } else if distance > 0 {
            received |= 1 << (distance - 1)
        }
    }
}
