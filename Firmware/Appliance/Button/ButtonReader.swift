import PlugModel
import ProtocolCore

/// What the button's contact came to mean.
enum ButtonSign: Hashable {
    /// A press shorter than a long one was released: the relay changes now, whatever the press will be called.
    case toggle
    case press(ButtonPress)
    /// Held so long that the plug is to be paired.
    case openPairing
    /// Held so long that the plug is to be set back to factory state.
    case factoryReset
}

/// Makes presses out of the edges of a contact, which may bounce.
///
/// It goes by the times of the edges, however late they are handed over: a machine that was busy for a second takes no short
/// press for a long one. A contact that is down from the start has no edge, so it means nothing until it was up once.
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
        /// Held for pairing, which it got.
        case heldForPairing(since: Instant)
        /// Held so long that the light warns of the reset; a release still means nothing.
        case nearReset(since: Instant)
        /// Reported as the reset too.
        case heldForReset
        /// Released once. What it is called depends on whether another press begins before `until`.
        case awaitingSecond(until: Instant)
    }

    /// Whoever wakes so late may have edges before him that nobody has read yet...
    static let lateness = Duration.milliseconds(10)
    /// ...and hears them before he judges.
    static let patience = Duration.milliseconds(5)

    private var contact = Contact.settled(down: false)
    private var press = Press.none
    /// Nothing that comes belongs before this.
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

    /// Whoever holds it on resets the plug.
    var isNearReset: Bool {
        switch press {
        case .none, .held, .heldLong, .heldForPairing, .heldForReset, .awaitingSecond: false
        case .nearReset: true
        }
    }

    var nextDeadline: Instant? { due.map { max($0, patientUntil ?? $0) } }

    /// When something is decided if no edge comes.
    private var due: Instant? {
        switch contact {
        // While the contact moves, a press may just have ended or begun in time: its own deadline waits for the outcome.
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

    /// - Parameter time: of the edge itself. One that lies before what was judged already, or in the future, is moved there.
    mutating func edge(down: Bool, at time: Instant, now: Instant) -> [ButtonSign] {
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
        // Where the kernel has debounced, nothing is left to wait for.
        signs += judge(upTo: time)
        return signs
    }

    /// Does what is due if no edge came.
    mutating func advance(to now: Instant) -> [ButtonSign] {
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

    private mutating func judge(upTo time: Instant) -> [ButtonSign] {
        var signs: [ButtonSign] = []
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

    private mutating func released(at time: Instant) -> [ButtonSign] {
        switch press {
        case .none, .awaitingSecond:
            return []
        case .heldLong, .heldForPairing, .nearReset, .heldForReset:
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

    private mutating func pressCameDue() -> [ButtonSign] {
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
