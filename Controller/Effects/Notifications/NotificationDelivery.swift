public import Automation
import LinuxSystem
import ProtocolCore

/// Delivers notifications to one receiver. `NotificationQueue` decides when each attempt begins.
public actor NotificationDelivery {
    private typealias Waiting = (
        notification: RuleNotification, whoever: CheckedContinuation<EffectOutcome, Never>
    )

    private let receiver: any NotificationReceiver
    private var queue: NotificationQueue
    /// The notifications that the queue has not finished; the queue limits their number.
    private var waiting: [UInt64: Waiting] = [:]
    private var attempt: (number: UInt64, task: Task<Void, Never>)?
    private var alarm: (time: Instant, task: Task<Void, Never>)?
    private var last: UInt64 = 0

    init(_ receiver: any NotificationReceiver, _ limits: NotificationQueue.Limits) {
        self.receiver = receiver
        queue = NotificationQueue(limits)
    }

    /// Creates a delivery that has begun no attempt.
    ///
    /// - Parameters:
    ///   - pauses: The pauses before further attempts; the last pause repeats. A receiver may request a longer one.
    ///   - patience: The time after which no attempt begins.
    ///   - perMinute: The maximum number of notifications that are accepted within any minute.
    ///   - waiting: The maximum number of unfinished notifications.
    public init(
        _ receiver: any NotificationReceiver, pauses: [Duration], patience: Duration,
        perMinute: Int = NamedReceiver.usualPerMinute, waiting: Int
    ) {
        var limits = NotificationQueue.Limits()
        (limits.pauses, limits.patience) = (pauses, patience)
        (limits.perMinute, limits.underWay) = (perMinute, waiting)
        self.init(receiver, limits)
    }

    /// Delivers the notification. Returns when the receiver has accepted it, or when the delivery has finally failed.
    public func deliver(_ notification: RuleNotification) async -> EffectOutcome {
        last += 1
        let number = last
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting[number] = (notification, continuation)
                handle(.came(number))
            }
        } onCancel: {
            Task { await self.withdraw(number) }
        }
    }

    private func withdraw(_ number: UInt64) {
        guard let given = waiting.removeValue(forKey: number) else { return }
        if attempt?.number == number { attempt?.task.cancel() }
        handle(.withdrawn(number))
        given.whoever.resume(returning: .givenUp)
    }

    private func handle(_ event: NotificationQueue.Event) {
        for action in queue.handle(event, now: BootClock.now) {
            switch action {
            case .attempt(let number, let leftOut): begin(number, leftOut)
            case .finish(let number, let outcome):
                waiting.removeValue(forKey: number)?.whoever.resume(returning: outcome)
            }
        }
        setAlarm()
    }

    private func begin(_ number: UInt64, _ leftOut: Int) {
        guard let notification = waiting[number]?.notification.after(leavingOut: leftOut) else {
            preconditionFailure("the queue attempts only pending notifications")
        }
        let task = Task {
            let answer: NotificationQueue.Answer
            do throws(NotificationFault) {
                try await receiver.receive(notification)
                answer = .taken
            } catch {
                answer = .failed(
                    error.words, isRetryable: error.isRetryable, after: error.retryAfter ?? .zero)
            }
            attempt = nil
            handle(.answered(number, answer))
        }
        attempt = (number, task)
    }

    private func setAlarm() {
        let time = queue.nextDeadline
        guard time != alarm?.time else { return }
        alarm?.task.cancel()
        alarm = time.map { time in
            let task = Task {
                guard (try? await Task.sleep(for: time - BootClock.now)) != nil else { return }
                guard alarm?.time == time else { return }
                alarm = nil
                handle(.deadlineReached)
            }
            return (time, task)
        }
    }
}
