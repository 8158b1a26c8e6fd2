import ProtocolCore

/// The commands to wpa_supplicant: one at a time, because answers have no number.
struct SupplicantConversation: Sendable {
    /// The steps for the shell.
    enum Step { case open, close, send(String) }

    /// A command, and what its answer is for.
    enum Command: Hashable, Sendable {
        case attach, list, status, scan, results, signal, check
        /// A change that must succeed.
        case change(String)
        /// A change that some drivers and versions refuse.
        case attempt(String)
        /// Adds a network, which must get this number.
        case addNetwork(Int)

        var text: String {
            switch self {
            case .attach: "ATTACH"
            case .list, .check: "LIST_NETWORKS"
            case .status: "STATUS"
            case .scan: "SCAN"
            case .results: "SCAN_RESULTS"
            case .signal: "SIGNAL_POLL"
            case .change(let text), .attempt(let text): text
            case .addNetwork: "ADD_NETWORK"
            }
        }
    }

    private enum State {
        /// The socket is closed until this time.
        case closed(until: Instant?)
        case opening
        /// `isReady` is true after the first answers.
        case open(isReady: Bool)
    }

    private var state = State.closed(until: nil)
    /// The command that waits for its answer, and those after it.
    private var queue: [Command] = []
    private var answerDue: Instant?
    private var checkDue: Instant?
    /// True if the answer to a command did not arrive in time.
    private(set) var isLost = false
    /// True if wpa_supplicant has answered since the last ``close(now:)``.
    var isReady: Bool { if case .open(isReady: true) = state { true } else { false } }
    var isIdle: Bool { queue.isEmpty }

    var nextDeadline: Instant? {
        switch state {
        case .closed(let until): until
        case .opening: nil
        case .open: sooner(answerDue, checkDue)
        }
    }

    mutating func open() -> [Step] {
        state = .opening
        return [.open]
    }

    mutating func close(now: Instant) -> [Step] {
        self = SupplicantConversation()
        state = .closed(until: now + WiFiMachine.retryInterval)
        return [.close]
    }

    /// Begins with the first commands on an open socket.
    mutating func begin(_ commands: [Command], now: Instant) -> [Step] {
        guard case .opening = state else { return [] }
        state = .open(isReady: false)
        return replace(commands, now: now)
    }

    /// The first answers have arrived.
    mutating func becomeReady() { if case .open = state { state = .open(isReady: true) } }

    mutating func add(_ command: Command, now: Instant) -> [Step] {
        guard case .open = state, !queue.contains(command) else { return [] }
        queue.append(command)
        return queue.count == 1 ? sendFirst(now: now) : []
    }

    /// Replaces the commands that were not sent yet.
    mutating func replace(_ commands: [Command], now: Instant) -> [Step] {
        guard case .open = state else { return [] }
        let isWaiting = answerDue != nil
        queue = Array(queue.prefix(isWaiting ? 1 : 0)) + commands
        return isWaiting ? [] : sendFirst(now: now)
    }

    /// Removes the commands that were not sent yet.
    mutating func clear() { queue = Array(queue.prefix(answerDue == nil ? 0 : 1)) }

    /// Takes the command that an answer belongs to; nil if none waits. ``continue(now:)`` has to follow.
    mutating func takeAnswered() -> Command? {
        guard answerDue != nil else { return nil }
        answerDue = nil
        return queue.removeFirst()
    }

    mutating func `continue`(now: Instant) -> [Step] {
        guard answerDue == nil else { return [] }
        return sendFirst(now: now)
    }

    mutating func reachDeadline(now: Instant) -> [Step] {
        switch state {
        case .closed(let until?) where until <= now: return open()
        case .closed, .opening: return []
        case .open:
            if let answerDue, answerDue <= now { isLost = true }
            if let checkDue, checkDue <= now, queue.isEmpty { return add(.check, now: now) }
            return []
        }
    }

    private mutating func sendFirst(now: Instant) -> [Step] {
        guard let first = queue.first else {
            checkDue = now + WiFiMachine.checkInterval
            return []
        }
        checkDue = nil
        answerDue = now + WiFiMachine.answerTime
        return [.send(first.text)]
    }
}
