/// The order in which a shell performs what its machine asks for: the order in which it was asked.
///
/// Performing one action may bring the machine its next event at once, a meter's answer for one. What comes of that event
/// waits until everything asked before is done, or bytes would overtake each other.
public final class ActionQueue<Action> {
    /// What came while an action was being performed: bounded by what one event can cause.
    @usableFromInline var waiting: [Action] = []
    @usableFromInline var isAtWork = false
    /// True from the first action until all that came of it is done.
    public var isPerforming: Bool { isAtWork }

    public init() {}

    /// Performs the actions and all that is added meanwhile. A call from within `body` only adds: the call that is already
    /// performing does the rest, with its own body. Inlinable, or each action would be moved by what its type says at run time.
    @inlinable
    public func perform(_ actions: [Action], by body: (Action) -> Void) {
        guard !isAtWork else {
            waiting += actions
            return
        }
        isAtWork = true
        var due = actions
        while !due.isEmpty {
            for action in due { body(action) }
            due = waiting
            waiting = []
        }
        isAtWork = false
    }
}
