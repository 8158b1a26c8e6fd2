public import Automation

/// Does what rules ask for outside of the house, at once: how many are done at a time is up to whoever asks.
///
/// A task that is cancelled ends its command, or its request, at once.
public struct EffectPerformer: Sendable {
    private let desks: [(name: String, desk: NotificationDesk)]
    private let sender: WebHookSender
    private let outside: Outside

    public init(receivers: [NamedReceiver] = [], outside: Outside = Outside()) {
        self.init(receivers: receivers, limits: NotificationQueue.Limits(), outside: outside)
    }

    init(receivers: [NamedReceiver], limits: NotificationQueue.Limits, outside: Outside = Outside()) {
        desks = receivers.map { named in
            var own = limits
            own.perMinute = named.perMinute
            return (named.name, NotificationDesk(named.receiver, own))
        }
        sender = WebHookSender(limits: outside.limits)
        self.outside = outside
    }

    /// Returns when it is done, or when it is certain that it will not be; nil where the task was cancelled before.
    ///
    /// A notification that a receiver has by then is not nil: it has failed for the others, or the first would get it again.
    public func perform(_ request: EffectRequest) async -> EffectOutcome? {
        guard !Task.isCancelled else { return nil }
        let event = EffectEvent(request)
        let outcome: EffectOutcome? =
            switch request.effect {
            // Whoever watches the daemon is told by the notice of the outcome.
            case .notify(let title, let text): await tell(RuleNotification(title: title, text: text, event: event))
            case .run(let words, let timeout): await run(words, timeout, event)
            case .webHook(let hook): await sender.send(hook, event)
            }
        return outcome == .givenUp ? nil : outcome
    }

    private func run(_ words: [String], _ timeout: Duration, _ event: EffectEvent) async -> EffectOutcome {
        let place: FilePlace?
        switch outside.verdict(onProgram: words.first ?? "") {
        case .refused(let words): return .failed(words)
        case .found(let found): place = found
        }
        let command = Command(
            words, at: place, timeout: timeout, event: event, environment: outside.environment, fence: outside.fence)
        return await command.run()
    }

    /// All receivers at once, each on its own: who has it gets it no second time because another one has not.
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
    /// Of a task that was cancelled.
    static let givenUp = EffectOutcome.failed("given up: the controller ends")
}
