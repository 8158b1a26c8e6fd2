public import Automation

/// Somewhere that a rule's words for a person go to, beside those who watch the daemon itself.
public protocol NotificationReceiver: Sendable {
    /// Returns when it has them, or when it is certain that it will not.
    func receive(title: String, text: String, of event: EffectEvent) async -> EffectOutcome
}

/// Does what rules ask for outside of the house. Whoever asks hears how it ended, and is kept from nothing meanwhile.
///
/// A task that is cancelled ends its command, or its request, at once.
public actor EffectPerformer {
    /// Done at the same time. Stops rules that fire often from starting ever more programs.
    static let simultaneous = 16
    /// More wait. Stops programs that hang from filling the memory with those that wait for them.
    static let waitingLimit = 256

    private nonisolated let receivers: [any NotificationReceiver]
    private nonisolated let sender: WebHookSender
    private var running = 0
    private var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    private var lastTicket: UInt64 = 0

    public init(receivers: [any NotificationReceiver] = []) { self.init(receivers, WebHookSender()) }

    init(_ receivers: [any NotificationReceiver], _ sender: WebHookSender) {
        self.receivers = receivers
        self.sender = sender
    }

    /// Returns when it is done, or when it is certain that it will not be.
    public nonisolated func perform(_ request: EffectRequest) async -> EffectOutcome {
        let event = EffectEvent(request)
        switch request.effect {
        // Whoever watches the daemon is told by the notice of the outcome.
        case .notify(let title, let text):
            guard !receivers.isEmpty else { return .done }
            return await inTurn { await self.tell(title, text, event) }
        case .run(let words, let timeout):
            return await inTurn { await Command(words, timeout: timeout, event: event).run() }
        case .webHook(let hook):
            return await inTurn { await self.sender.send(hook, event) }
        }
    }

    private nonisolated func tell(_ title: String, _ text: String, _ event: EffectEvent) async -> EffectOutcome {
        var failures: [String] = []
        for receiver in receivers {
            if case .failed(let words) = await receiver.receive(title: title, text: text, of: event) {
                failures.append(words)
            }
        }
        return failures.isEmpty ? .done : .failed(failures.joined(separator: "; "))
    }

    private nonisolated func inTurn(_ work: @Sendable () async -> EffectOutcome) async -> EffectOutcome {
        switch await enter() {
        case .full: return .failed("\(Self.waitingLimit) others wait already: what rules run takes too long")
        case .cancelled: return .givenUp
        case .mayBegin: break
        }
        let outcome = await work()
        await leave()
        return outcome
    }

    // MARK: Turns

    private enum Turn {
        case mayBegin, full, cancelled
    }

    private func enter() async -> Turn {
        guard !Task.isCancelled else { return .cancelled }
        guard running >= Self.simultaneous else {
            running += 1
            return .mayBegin
        }
        guard waiting.count < Self.waitingLimit else { return .full }
        lastTicket += 1
        let ticket = lastTicket
        let mayBegin = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Cancelled before it waited, nobody would wake it.
                guard !Task.isCancelled else { return continuation.resume(returning: false) }
                waiting.append((ticket, continuation))
            }
        } onCancel: {
            Task { await self.giveUp(ticket) }
        }
        return mayBegin ? .mayBegin : .cancelled
    }

    private func giveUp(_ ticket: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.id == ticket }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }

    /// The place goes to whoever waits longest.
    private func leave() {
        guard !waiting.isEmpty else {
            running -= 1
            return
        }
        waiting.removeFirst().continuation.resume(returning: true)
    }
}

extension EffectOutcome {
    /// Of a task that was cancelled.
    static let givenUp = EffectOutcome.failed("given up: the controller ends")
}
