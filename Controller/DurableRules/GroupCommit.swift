import ProtocolCore

/// Tracks what must be stored, and the actions that wait until it is stored. One write is in progress at a time. All
/// changes during a write share the next write.
struct GroupCommit<Action: Sendable>: Sendable {
    private enum State: Hashable {
        /// Everything is stored.
        case clean
        case due(Instant)
        /// A write is in progress. `next`: the time at which changes since its start are due; nil without changes.
        case writing(next: Instant?)
    }

    private var state = State.clean
    /// The actions to run at the end of the write in progress.
    private var underWay: [Action] = []
    /// The actions to run at the end of the next write.
    private var waiting: [Action] = []

    /// The time at which the next write should start; nil if everything is stored or while a write is in progress.
    var nextDeadline: Instant? {
        switch state {
        case .clean, .writing: nil
        case .due(let due): due
        }
    }

    var isClean: Bool { state == .clean }

    /// Records a change that must be stored at `due` at the latest.
    mutating func changed(due: Instant) {
        switch state {
        case .clean: state = .due(due)
        case .due(let already): state = .due(min(already, due))
        case .writing(let next): state = .writing(next: sooner(next, due))
        }
    }

    /// Runs the action after the present changes are stored.
    mutating func afterwards(_ action: Action) { waiting.append(action) }

    /// Returns true if a write must start now.
    func isDue(now: Instant) -> Bool {
        guard case .due(let due) = state else { return false }
        return due <= now
    }

    /// Starts a write. `last` are the actions to run after all other actions that wait for the write.
    mutating func begin(last: [Action]) {
        state = .writing(next: nil)
        underWay = waiting + last
        waiting = []
    }

    /// Ends the write and returns the actions that waited for it.
    mutating func ended() -> [Action] {
        guard case .writing(let next) = state else { preconditionFailure("no write was under way") }
        state = next.map { .due($0) } ?? .clean
        defer { underWay = [] }
        return underWay
    }
}
