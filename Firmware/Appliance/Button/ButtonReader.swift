import PlugModel
import ProtocolCore

/// A recognized gesture of the button.
enum ButtonGesture: Hashable {
    /// The button was released before a long press. The relay changes at once, without waiting for a possible second
    /// press.
    case toggle
    case press(ButtonPress)
    /// The button was held long enough for pairing.
    case openPairing
    /// The button was released while the light warned of the reset.
    case setUpNetwork
    /// The button was held long enough for a factory reset.
    case factoryReset
}

/// Recognizes presses in the edges of a contact that may bounce.
///
/// Only the times of the edges count, not when they are delivered, so a process that was busy for a second does not
/// mistake a short press for a long one. A contact that is down when the firmware starts has no edge and is ignored
/// until it was up once.
struct ButtonReader {
    private enum Contact {
        case settled(down: Bool)
        /// The contact differs from its settled state, but not yet for the debounce time.
        case changing(down: Bool, since: Instant)
    }

    private enum Press {
        case none
        /// The button is held; `second` is true for the second of two presses.
        case held(since: Instant, second: Bool)
        /// The press was reported as long. Its release has no effect.
        case heldLong(since: Instant)
        /// The pairing window was opened. The release has no effect.
        case heldForPairing(since: Instant)
        /// The light warns of the reset. A release cancels it, and requests the setup of the network.
        case nearReset(since: Instant)
        /// The reset was reported.
        case heldForReset
        /// The button was released once. A press before `until` makes a double press.
        case awaitingSecond(until: Instant)
    }

    /// If a deadline is handled more than this time late, edges from before the deadline may still be unread.
    static let lateness = Duration.milliseconds(10)
    /// How long such a late deadline waits for unread edges before it is evaluated.
    static let patience = Duration.milliseconds(5)

    private var contact = Contact.settled(down: false)
    private var press = Press.none
    /// The time up to which edges have been evaluated. An edge with an earlier time is handled as if it had this time.
    private var judgedUntil = Instant(nanoseconds: .min)
    private var patientUntil: Instant?
    private let debounce: Duration
    private let longPress: Duration
    private let doublePressWindow: Duration
    private let pairingHold: Duration
    private let resetWarning: Duration
    private let resetHold: Duration

    init(_ configuration: ApplianceConfiguration) {
        debounce = configuration.debounce
        longPress = configuration.longPress
        doublePressWindow = configuration.doublePressWindow
        pairingHold = configuration.pairingHold
        resetWarning = configuration.resetWarning
        resetHold = configuration.resetHold
    }

    /// True while the light warns of the reset, which follows if the button stays down.
    var isNearReset: Bool {
        switch press {
        case .none, .held, .heldLong, .heldForPairing, .heldForReset, .awaitingSecond: false
        case .nearReset: true
        }
    }

    var nextDeadline: Instant? { due.map { max($0, patientUntil ?? $0) } }

    /// The time at which the contact or the press is evaluated next if no further edge arrives.
    private var due: Instant? {
        switch contact {
        // While the contact changes, a press may have ended or begun in time, so the press deadline waits for the
        // outcome.
        case .changing(_, let since): since + debounce
        case .settled: pressDue
        }
    }

    private var pressDue: Instant? {
        switch press {
        case .none, .heldForReset: nil
        case .held(let since, _): since + longPress
        case .heldLong(let since): since + pairingHold
        case .heldForPairing(let since): since + resetWarning
        case .nearReset(let since): since + resetHold
        case .awaitingSecond(let until): until
        }
    }

    /// Handles an edge.
    /// - Parameter time: The time of the edge, clamped to the range from the last evaluated time to `now`.
    mutating func edge(down: Bool, at time: Instant, now: Instant) -> [ButtonGesture] {
        let time = min(max(time, judgedUntil), now)
        patientUntil = nil
        var signs = judge(upTo: time)
        switch contact {
        case .settled(let settled):
            if down != settled { contact = .changing(down: down, since: time) }
        case .changing(let target, _):
            if down != target { contact = .settled(down: down) }
        }
        judgedUntil = max(judgedUntil, time)
        // If the kernel debounces, the debounce time is zero, so the edge is evaluated at once.
        signs += judge(upTo: time)
        return signs
    }

    /// Returns the gestures that are due because no further edge arrived.
    mutating func advance(to now: Instant) -> [ButtonGesture] {
        guard let due, due <= now else {
            patientUntil = nil
            return []
        }
        if now - due > Self.lateness {
            let end = patientUntil ?? now + Self.patience
            patientUntil = end
            guard end <= now else { return [] }
        }
        patientUntil = nil
        return judge(upTo: now)
    }

    private mutating func judge(upTo time: Instant) -> [ButtonGesture] {
        var signs: [ButtonGesture] = []
        while let due, due <= time {
            judgedUntil = max(judgedUntil, due)
            switch contact {
            case .changing(let down, let since):
                contact = .settled(down: down)
                if down { pressed(at: since) } else { signs += released(at: since) }
            case .settled:
                signs += pressCameDue()
            }
        }
        return signs
    }

    private mutating func pressed(at time: Instant) {
        switch press {
        case .awaitingSecond: press = .held(since: time, second: true)
        case .none, .held, .heldLong, .heldForPairing, .nearReset, .heldForReset:
            press = .held(since: time, second: false)
        }
    }

    private mutating func released(at time: Instant) -> [ButtonGesture] {
        switch press {
        case .none, .awaitingSecond:
            return []
        case .heldLong, .heldForPairing, .heldForReset:
            press = .none
            return []
        case .nearReset:
            press = .none
            return [.setUpNetwork]
        case .held(let since, let second):
            press = .none
            guard time - since < longPress else { return (second ? [.press(.single)] : []) + [.press(.long)] }
            if second { return [.toggle, .press(.double)] }
            guard doublePressWindow > .zero else { return [.toggle, .press(.single)] }
            press = .awaitingSecond(until: time + debounce + doublePressWindow)
            return [.toggle]
        }
    }

    private mutating func pressCameDue() -> [ButtonGesture] {
        switch press {
        case .none, .heldForReset:
            return []
        case .held(let since, let second):
            press = .heldLong(since: since)
            return (second ? [.press(.single)] : []) + [.press(.long)]
        case .heldLong(let since):
            press = .heldForPairing(since: since)
            return [.openPairing]
        case .heldForPairing(let since):
            press = .nearReset(since: since)
            return []
        case .nearReset:
            press = .heldForReset
            return [.factoryReset]
        case .awaitingSecond:
            press = .none
            return [.press(.single)]
        }
    }
}
