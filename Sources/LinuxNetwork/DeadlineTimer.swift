public import NIOCore
public import ProtocolCore

/// A machine's one timer: follows its `nextDeadline` on an event loop.
///
/// A deadline that moves later leaves the scheduled task where it is, and the task that comes too early looks again; so a
/// machine whose deadline moves with every packet costs no task for each.
///
/// The machine's clock counts while the host is suspended and the loop's does not: a task would come late by as long as the
/// host slept. So none is scheduled further ahead than ``longestWait``, and what fell due in a sleep is done that soon after it.
public struct DeadlineTimer {
    public static let longestWait = Duration.seconds(10)

    private var scheduled: (task: Scheduled<Void>, at: Instant, isWaiting: NIOLoopBoundBox<Bool>)?

    public init() {}

    /// On the event loop.
    ///
    /// - Parameters:
    ///   - deadline: the machine's; nil leaves the timer off.
    ///   - now: of the clock that the deadline is on.
    ///   - fire: called on the event loop at the deadline or before; it hands the machine `deadlineReached`, which does what is
    ///     due by then, and follows the deadline again.
    public mutating func follow(
        _ deadline: Instant?, now: Instant, on eventLoop: any EventLoop, fire: @escaping @Sendable () -> Void
    ) {
        guard var deadline else { return stop() }
        deadline = min(deadline, now + Self.longestWait)
        if let scheduled, scheduled.at <= deadline, scheduled.isWaiting.value { return }
        scheduled?.task.cancel()
        let delay = max(0, (deadline - now).wholeNanoseconds)
        let isWaiting = NIOLoopBoundBox(true, eventLoop: eventLoop)
        let task = eventLoop.scheduleTask(in: .nanoseconds(delay)) {
            isWaiting.value = false
            fire()
        }
        scheduled = (task, deadline, isWaiting)
    }

    public mutating func stop() {
        scheduled?.task.cancel()
        scheduled = nil
    }
}
