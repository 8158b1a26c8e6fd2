import PlugProtocol
import ProtocolCore

/// What the button's contact came to mean.
enum ButtonSign: Hashable {
    /// A press shorter than a long one was released: the relay changes now, whatever the press will be called.
    case toggle
    case press(ButtonPress)
    /// Held so long that the plug is to be set back to factory state.
    case factoryReset
}

/// Makes presses out of the raw edges of a bouncing contact.
struct ButtonReader {
    private enum Contact {
        case settled(down: Bool)
        /// Away from where it was settled, not yet for long enough.
        case changing(down: Bool, since: Instant)
    }

    private enum Press {
        case none
        /// The second of two presses if `second`.
        case held(since: Instant, second: Bool)
        /// Reported as long; a release means nothing more.
        case heldLong(since: Instant)
        /// Held so long that the light warns of the reset; a release still means nothing.
        case nearReset(since: Instant)
        /// Reported as the reset too.
        case heldForReset
        /// Released once. What it is called depends on whether another press begins before `until`.
        case awaitingSecond(until: Instant)
    }

    private var contact = Contact.settled(down: false)
    private var press = Press.none
    private let debounce: Duration
    private let longPress: Duration
    private let doublePressWindow: Duration
    private let resetWarning: Duration
    private let resetHold: Duration

    init(_ configuration: ApplianceConfiguration) {
        debounce = configuration.debounce
        longPress = configuration.longPress
        doublePressWindow = configuration.doublePressWindow
        resetWarning = configuration.resetWarning
        resetHold = configuration.resetHold
    }

    /// Whoever holds it on resets the plug.
    var isNearReset: Bool {
        switch press {
        case .none, .held, .heldLong, .heldForReset, .awaitingSecond: false
        case .nearReset: true
        }
    }

    var nextDeadline: Instant? {
        switch contact {
        // While the contact moves, a press may just have ended or begun in time: its own deadline waits for the outcome.
        case .changing(_, let since): since + debounce
        case .settled: pressDeadline
        }
    }

    private var pressDeadline: Instant? {
        switch press {
        case .none, .heldForReset: nil
        case .held(let since, _): since + longPress
        case .heldLong(let since): since + resetWarning
        case .nearReset(let since): since + resetHold
        case .awaitingSecond(let until): until
        }
    }

    mutating func edge(down: Bool, now: Instant) {
        switch contact {
        case .settled(let settled):
            if down != settled { contact = .changing(down: down, since: now) }
        case .changing(let target, _):
            if down != target { contact = .settled(down: down) }
        }
    }

    /// Does what is due. Called before every edge, so that late timers do not change what a press means.
    mutating func advance(to now: Instant) -> [ButtonSign] {
        var signs: [ButtonSign] = []
        while let deadline = nextDeadline, deadline <= now {
            switch contact {
            case .changing(let down, let since):
                contact = .settled(down: down)
                if down { pressed(at: since) } else { signs += released(at: since) }
            case .settled:
                signs += pressDeadlineReached()
            }
        }
        return signs
    }

    private mutating func pressed(at time: Instant) {
        switch press {
        case .awaitingSecond: press = .held(since: time, second: true)
        case .none, .held, .heldLong, .nearReset, .heldForReset: press = .held(since: time, second: false)
        }
    }

    private mutating func released(at time: Instant) -> [ButtonSign] {
        switch press {
        case .none, .awaitingSecond:
            return []
        case .heldLong, .nearReset, .heldForReset:
            press = .none
            return []
        case .held(let since, let second):
            press = .none
            guard time - since < longPress else { return (second ? [.press(.single)] : []) + [.press(.long)] }
            if second { return [.toggle, .press(.double)] }
            guard doublePressWindow > .zero else { return [.toggle, .press(.single)] }
            press = .awaitingSecond(until: time + debounce + doublePressWindow)
            return [.toggle]
        }
    }

    private mutating func pressDeadlineReached() -> [ButtonSign] {
        switch press {
        case .none, .heldForReset:
            return []
        case .heldLong(let since):
            press = .nearReset(since: since)
            return []
        case .nearReset:
            press = .heldForReset
            return [.factoryReset]
        case .held(let since, let second):
            press = .heldLong(since: since)
            return (second ? [.press(.single)] : []) + [.press(.long)]
        case .awaitingSecond:
            press = .none
            return [.press(.single)]
        }
    }
}
