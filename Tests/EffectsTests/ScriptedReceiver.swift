import Synchronization

@testable import Effects

/// Records the notifications, and gives the scripted answers; the last one repeats.
final class ScriptedReceiver: NotificationReceiver {
    enum Answer: Sendable {
        case take
        case fail(String, again: Bool)
        /// Blocks until the task is cancelled.
        case hang
    }

    private struct State {
        var answers: [Answer]
        var got: [RuleNotification] = []
        var atOnce = 0
        var mostAtOnce = 0
    }

    private let state: Mutex<State>

    init(_ answers: Answer...) { state = Mutex(State(answers: answers.isEmpty ? [.take] : answers)) }

    /// The text of each attempt.
    var texts: [String] { state.withLock { $0.got.map(\.text) } }
    var got: [RuleNotification] { state.withLock { $0.got } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func named(_ name: String, perMinute: Int = NamedReceiver.usualPerMinute) -> NamedReceiver {
        NamedReceiver(name: name, kind: .command, perMinute: perMinute, receiver: self)
    }

    func receive(_ notification: RuleNotification) async throws(NotificationFault) {
        let answer = state.withLock { state in
            state.got.append(notification)
            state.atOnce += 1
            state.mostAtOnce = max(state.mostAtOnce, state.atOnce)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        defer { state.withLock { $0.atOnce -= 1 } }
        switch answer {
        case .take: return
        case .fail(let words, let again): throw NotificationFault(words, isRetryable: again)
        case .hang:
            try? await Task.sleep(for: .seconds(3600))
            throw .givenUp
        }
    }
}
