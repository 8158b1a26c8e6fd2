public import NIOCore
public import ProtocolCore

/// Schedules a machine's `nextDeadline` on an event loop. A machine has one timer.
///
/// If a deadline moves to a later time, the scheduled task is kept. The task then runs too early and follows the
/// deadline again. So a machine whose deadline moves with each packet does not cause a task per packet.
///
/// The machine's clock continues while the host is suspended, but the event loop's does not: a task would be late by
/// the duration of the suspend. So no task is scheduled further ahead than ``longestWait``; work that became due during
/// a suspend is done within this time after the suspend.
public struct DeadlineTimer {
    /// The longest delay of a scheduled task: 10 s.
    public static let longestWait = Duration.seconds(10)

    private var scheduled: (task: Scheduled<Void>, at: Instant, isWaiting: NIOLoopBoundBox<Bool>)?

    /// Creates a timer that is off.
    public init() {}

    /// Schedules the deadline. To be called on the event loop.
    ///
    /// - Parameters:
    ///   - deadline: the machine's next deadline; nil stops the timer.
    ///   - now: the current time of the deadline's clock.
    ///   - eventLoop: the event loop on which `fire` runs.
    ///   - fire: called on the event loop at the deadline or earlier. It sends `deadlineReached` to the machine, which
    ///     performs the due work, and follows the deadline again.
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

    /// Stops the timer.
    public mutating func stop() {
        scheduled?.task.cancel()
        scheduled = nil
    }
}
