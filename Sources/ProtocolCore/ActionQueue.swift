/// Performs a machine's actions in the order in which the machine returned them.
///
/// Performing an action may immediately cause the machine's next event, such as a meter's answer. The actions of that
/// event wait until all earlier actions are done. Otherwise the bytes of a later action could be sent before those of
/// an earlier one.
public final class ActionQueue<Action> {
    /// The actions that arrived while another action was being performed. Their number is limited by the number of
    /// actions that one event can cause.
    @usableFromInline var waiting: [Action] = []
    @usableFromInline var isAtWork = false
    /// True from the first action until all resulting actions are done.
    public var isPerforming: Bool { isAtWork }

    /// Creates an empty queue.
    public init() {}

    /// Performs the actions and all actions that are added during the call. A call from within `body` only adds its
    /// actions; the outer call performs them with its own body. The method is inlinable because its unspecialized form
    /// is slow: it moves each action by runtime type metadata.
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
