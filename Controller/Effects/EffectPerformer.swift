public import Automation

/// Somewhere that a rule's words for a person go to, beside those who watch the daemon itself.
public protocol NotificationReceiver: Sendable {
    /// Returns when it has them, or when it is certain that it will not.
    func receive(title: String, text: String, of event: EffectEvent) async -> EffectOutcome
}

/// Does what rules ask for outside of the house, at once: how many are done at a time is up to whoever asks.
///
/// A task that is cancelled ends its command, or its request, at once.
public struct EffectPerformer: Sendable {
    private let receivers: [any NotificationReceiver]
    private let sender: WebHookSender

    public init(receivers: [any NotificationReceiver] = []) {
        self.receivers = receivers
        sender = WebHookSender()
    }

    /// Returns when it is done, or when it is certain that it will not be.
    public func perform(_ request: EffectRequest) async -> EffectOutcome {
        guard !Task.isCancelled else { return .givenUp }
        let event = EffectEvent(request)
        switch request.effect {
        // Whoever watches the daemon is told by the notice of the outcome.
        case .notify(let title, let text): return await tell(title, text, event)
        case .run(let words, let timeout): return await Command(words, timeout: timeout, event: event).run()
        case .webHook(let hook): return await sender.send(hook, event)
        }
    }

    private func tell(_ title: String, _ text: String, _ event: EffectEvent) async -> EffectOutcome {
        var failures: [String] = []
        for receiver in receivers {
            if case .failed(let words) = await receiver.receive(title: title, text: text, of: event) {
                failures.append(words)
            }
        }
        return failures.isEmpty ? .done : .failed(failures.joined(separator: "; "))
    }
}

extension EffectOutcome {
    /// Of a task that was cancelled.
    static let givenUp = EffectOutcome.failed("given up: the controller ends")
}
