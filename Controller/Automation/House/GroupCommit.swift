import ProtocolCore

/// What must be stored before something may be done, and what waits for it. One write is under way at a time; what happens
/// meanwhile shares the next one, so a burst costs a few writes, however long it is.
struct GroupCommit<Action: Sendable>: Sendable {
    private enum State: Hashable {
        /// What is stored is what is.
        case clean
        case due(Instant)
        /// `next`: when what changed since it began is due; nil where nothing did.
        case writing(next: Instant?)
    }

    private var state = State.clean
    /// Done when the write under way has ended.
    private var underWay: [Action] = []
    /// Done after the next one.
    private var waiting: [Action] = []

    /// When the next write should begin; nil while one is under way, whose end is waited for.
    var nextDeadline: Instant? {
        switch state {
        case .clean, .writing: nil
        case .due(let due): due
        }
    }

    var isClean: Bool { state == .clean }

    /// Something changed that is to be stored at `due`, or sooner along with something else.
    mutating func changed(due: Instant) {
        switch state {
        case .clean: state = .due(due)
        case .due(let already): state = .due(min(already, due))
        case .writing(let next): state = .writing(next: sooner(next, due))
        }
    }

    /// Does this once what changed is stored.
    mutating func afterwards(_ action: Action) { waiting.append(action) }

    /// Whether a write is to begin now.
    func isDue(now: Instant) -> Bool {
        guard case .due(let due) = state else { return false }
        return due <= now
    }

    /// A write begins. `last` is done after everything else that waits for it.
    mutating func begin(last: [Action]) {
        state = .writing(next: nil)
        underWay = waiting + last
        waiting = []
    }

    /// The write has ended: what waited for it.
    mutating func ended() -> [Action] {
        guard case .writing(let next) = state else { preconditionFailure("no write was under way") }
        state = next.map { .due($0) } ?? .clean
        defer { underWay = [] }
        return underWay
    }
}
