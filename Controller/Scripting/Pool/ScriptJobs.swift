import Automation
import Synchronization

/// What a script is to be called for, in the order in which it came.
final class ScriptJobs: Sendable {
    struct Job: Sendable {
        let id: UInt64
        let call: ScriptCall
        let plugs: [PlugView]
        let time: ScriptTime
        let answer: @Sendable (ScriptOutcome?) -> Void
        /// Whether a process has died of it, or beside it.
        var isSecondTry = false
    }

    /// Calls that wait for one script: as many as the house keeps, so that what is beyond is an error of whoever asks.
    static let most = 1024

    private struct State {
        var waiting: [Job] = []
        /// Those of them that were taken are before it.
        var first = 0
        var isClosed = false

        mutating func compact() {
            guard first >= 64, first * 2 >= waiting.count else { return }
            waiting.removeFirst(first)
            first = 0
        }
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Otherwise it is answered at once.
    func add(_ job: Job) {
        enum Refusal { case full, closed }
        let refusal = state.withLock { state -> Refusal? in
            if state.isClosed { return .closed }
            guard state.waiting.count - state.first < Self.most else { return .full }
            state.waiting.append(job)
            return nil
        }
        switch refusal {
        case nil: break
        case .full: job.answer(.failed("more than \(Self.most) events wait for the script"))
        case .closed: job.answer(nil)
        }
    }

    func next() -> Job? {
        state.withLock { state in
            guard state.first < state.waiting.count else { return nil }
            let job = state.waiting[state.first]
            state.first += 1
            state.compact()
            return job
        }
    }

    /// The one that was taken last is the next again; false where nobody waits for it any more.
    func putBack(_ job: Job) {
        let isKept = state.withLock { state in
            guard !state.isClosed else { return false }
            state.waiting.insert(job, at: state.first)
            return true
        }
        if !isKept { job.answer(nil) }
    }

    /// Whoever asked for it has gone: it is answered with nothing, unless it has begun.
    func giveUp(_ id: UInt64) {
        let job = state.withLock { state -> Job? in
            guard let index = state.waiting[state.first...].firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiting.remove(at: index)
        }
        job?.answer(nil)
    }

    /// Nothing is taken any more, and all that waits is answered with this.
    func close(_ outcome: ScriptOutcome?) {
        let waiting = state.withLock { state -> [Job] in
            defer { state = State(isClosed: true) }
            return Array(state.waiting[state.first...])
        }
        for job in waiting { job.answer(outcome) }
    }
}
