import Automation
import Effects

/// Delivers notifications to one browser.
actor PushDelivery {
    /// The pauses before the second, third and fourth attempt.
    private static let pauses = [5, 30, 120].map { Duration.seconds($0) }
    /// The time after which no attempt begins. It is shorter than four pauses, and limits the pause that a push service
    /// may request.
    private static let patience = Duration.seconds(240)
    /// The maximum number of unfinished notifications. A push service that does not answer cannot fill the memory.
    private static let waiting = 8

    private let delivery: NotificationDelivery
    /// The reason of the last failure; nil after a success.
    private var failure: String?

    init(_ receiver: any NotificationReceiver) {
        delivery = NotificationDelivery(
            receiver, pauses: Self.pauses, patience: Self.patience, waiting: Self.waiting)
    }

    /// Delivers a notification.
    ///
    /// - Returns: the reason of a failure, unless the previous delivery failed for the same reason, so that a browser
    ///   cannot fill the log.
    func deliver(_ notification: RuleNotification) async -> String? {
        let outcome = await delivery.deliver(notification)
        guard !Task.isCancelled, case .failed(let reason) = outcome else {
            failure = nil
            return nil
        }
        defer { failure = reason }
        return reason == failure ? nil : reason
    }
}
