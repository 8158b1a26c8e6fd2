import Automation
import Daemon
import Effects
import LinuxSystem
import WebPush

extension RuleNotification {
    /// The notification that a notice of the rules begins to send; nil for any other notice. It is the notification
    /// that the page shows.
    init?(_ record: RunnerRecord) {
        guard case .performing(let request) = record.notice, case .notify(let title, let text) = request.effect else {
            return nil
        }
        self.init(title: title, text: text, event: EffectEvent(request))
    }
}

extension Dashboard {
    /// Sends each notification of the rules and of the budget to the subscribed browsers, until the task is cancelled.
    /// A browser that cannot be reached delays no other. Notifications that are not delivered by then are lost.
    func pushNotifications(to login: Login, _ tell: @escaping @Sendable (Notice) -> Void) async {
        await withDiscardingTaskGroup { group in
            var deliveries: [PushSubscription: PushDelivery] = [:]
            var failure: String?
            for await notification in board.notifications {
                do {
                    let known = try await HistoryThreads.run { [push] in try push.subscriptions() }
                    guard !known.isEmpty else { continue }
                    let key = try await HistoryThreads.run { [push] in try push.key() }
                    let valid = await login.entrances(isLoopback: settings.isForThisMachine)
                    let receiving = known.filter { $0.mayReceive(valid) }
                    deliveries = deliveries.filter { receiving.contains($0.key) }
                    for subscription in receiving {
                        let found = deliveries[subscription] ?? receiver(subscription, key).map { PushDelivery($0) }
                        guard let delivery = found else { continue }
                        deliveries[subscription] = delivery
                        group.addTask {
                            guard let reason = await delivery.deliver(notification) else { return }
                            tell(.complaint("\(subscription.device) did not get a notification: \(reason)"))
                        }
                    }
                    failure = nil
                } catch {
                    let reason = (error as? Fault)?.record.error ?? "\(error)"
                    if reason != failure { tell(.complaint("browsers get no notifications: \(reason)")) }
                    failure = reason
                }
            }
        }
    }

    private func receiver(_ subscription: PushSubscription, _ key: ApplicationServerKey) -> PushReceiver? {
        let own = settings.push
        return subscription.destination(listed: own.services).map { endpoint, keys in
            PushReceiver(
                endpoint: endpoint, keys: keys, key: key, contact: own.contact,
                authority: own.services.contains(endpoint.origin) ? own.authority : nil,
                ended: { [push] in
                    _ = try? await HistoryThreads.run { try push.remove { $0.id == subscription.id } }
                })
        }
    }

    /// Removes the subscriptions of users whose password or session is no longer valid.
    ///
    /// - Parameters:
    ///   - known: subscriptions that were stored before `valid` was determined. Newer ones may belong to a newer
    ///     session.
    ///   - valid: the valid passwords and sessions. It is empty if they cannot be read; nothing is removed then.
    func endSubscriptions(among known: [PushSubscription], without valid: Set<String>) async {
        let ended = Set(known.filter { !$0.mayReceive(valid) })
        guard !ended.isEmpty, !valid.isEmpty else { return }
        // After a failure, the next check tries again. Until then, they receive nothing.
        _ = try? await HistoryThreads.run { [push] in try push.remove(where: ended.contains) }
    }
}
