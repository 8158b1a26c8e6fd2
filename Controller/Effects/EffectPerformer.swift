public import Automation
public import HostSleep
import Processes
import SleepClient

/// Performs the effects of rules outside of the house: programs, web hooks, notifications and wakes.
///
/// The caller limits the number of concurrent effects. If the task that called ``perform(_:)`` is cancelled, the
/// program or the request of the effect is stopped immediately.
public struct EffectPerformer: Sendable {
    private let desks: [(name: String, desk: NotificationDelivery)]
    private let sender: WebHookSender
    private let outside: EffectPolicy
    private let machines: @Sendable () -> KnownMachines

    /// Creates a performer with the receivers of notifications, the policy for programs and servers, and the current
    /// machines that rules can wake.
    public init(
        receivers: [NamedReceiver] = [], outside: EffectPolicy = EffectPolicy(),
        machines: @escaping @Sendable () -> KnownMachines = { KnownMachines() }
    ) {
        self.init(receivers: receivers, limits: NotificationQueue.Limits(), outside: outside, machines: machines)
    }

    init(
        receivers: [NamedReceiver], limits: NotificationQueue.Limits, outside: EffectPolicy = EffectPolicy(),
        machines: @escaping @Sendable () -> KnownMachines = { KnownMachines() }
    ) {
        self.machines = machines
        desks = receivers.map { named in
            var own = limits
            own.perMinute = named.perMinute
            return (named.name, NotificationDelivery(named.receiver, own))
        }
        sender = WebHookSender(limits: outside.limits)
        self.outside = outside
    }

    /// Performs the effect. Returns when it has succeeded or has finally failed, or nil if the task was cancelled
    /// before.
    ///
    /// A notification that at least one receiver accepted before the cancellation is reported as failed, not as nil: it
    /// would otherwise be performed again, and that receiver would get it twice.
    public func perform(_ request: EffectRequest) async -> EffectOutcome? {
        guard !Task.isCancelled else { return nil }
        let event = EffectEvent(request)
        let outcome: EffectOutcome? =
            switch request.effect {
            // Users who watch the daemon see the notification in the report of the outcome.
            case .notify(let title, let text): await tell(RuleNotification(title: title, text: text, event: event))
            case .run(let words, let timeout): await run(words, timeout, event)
            case .webHook(let hook): await sender.send(hook, event)
            case .wake(let machine): await wake(machine)
            }
        return outcome == .givenUp ? nil : outcome
    }

    /// Wakes a machine; nil if the task was cancelled.
    private func wake(_ name: String) async -> EffectOutcome? {
        guard let machine = machines().machine(name) else { return .failed("no machine is called \"\(name)\"") }
        do throws(WakeFault) {
            guard let outcome = try await Waker.wake(machine) else { return nil }
            return outcome == .didNotWake ? .failed("\(outcome)") : .reported("\(outcome)")
        } catch {
            return .failed("\(error)")
        }
    }

    private func run(_ words: [String], _ timeout: Duration, _ event: EffectEvent) async -> EffectOutcome {
        let place: ResolvedPath?
        switch outside.verdict(onProgram: words.first ?? "") {
        case .refused(let words): return .failed(words)
        case .found(let found): place = found
        }
        let command = Command(
            words, at: place, timeout: timeout, event: event, environment: outside.environment, fence: outside.fence)
        return await command.run()
    }

    /// Sends to all receivers concurrently. A receiver that succeeded is not retried when another fails.
    private func tell(_ notification: RuleNotification) async -> EffectOutcome? {
        var isCutShort = false
        let failures = await withTaskGroup(of: (Int, EffectOutcome).self) { group in
            for (index, entry) in desks.enumerated() {
                group.addTask { (index, await entry.desk.deliver(notification)) }
            }
            var failures: [(Int, String)] = []
            for await (index, outcome) in group {
                if case .failed(let words) = outcome { failures.append((index, words)) }
                if outcome == .givenUp { isCutShort = true }
            }
            return failures
        }
        guard !failures.isEmpty else { return .done }
        if isCutShort, failures.count == desks.count { return nil }
        let words = failures.sorted { $0.0 < $1.0 }.map { "\(desks[$0.0].name): \($0.1)" }
        return .failed(words.joined(separator: "; "))
    }
}

extension EffectOutcome {
    /// The outcome of an effect whose task was cancelled.
    static let givenUp = EffectOutcome.failed("cancelled: the controller is stopping")
}
