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
    static let most = ScriptLimits.calls

    private struct Closing {
        var outcome: ScriptOutcome?
    }

    private struct State {
        var waiting: [Job] = []
        /// Those of them that were taken are before it.
        var first = 0
        /// What all that comes is answered with.
        var closing: Closing?

        mutating func compact() {
            guard first >= 64, first * 2 >= waiting.count else { return }
            waiting.removeFirst(first)
            first = 0
        }
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.closing != nil } }

    /// Answered at once where it cannot wait.
    func add(_ job: Job) {
        enum Place { case waits, full, closed }
        let place = state.withLock { state -> Place in
            if state.closing != nil { return .closed }
            guard state.waiting.count - state.first < Self.most else { return .full }
            state.waiting.append(job)
            return .waits
        }
        switch place {
        case .waits: break
        case .full: job.answer(.failed("more than \(Self.most) events wait for the script"))
        case .closed: settle(job, nil)
        }
    }

    /// What became of one that was taken. Where all was closed meanwhile, that counts for what is not done.
    func settle(_ job: Job, _ outcome: ScriptOutcome?) {
        if case .answered = outcome { return job.answer(outcome) }
        let closing = state.withLock { $0.closing }
        job.answer(closing.map(\.outcome) ?? outcome)
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

    /// The one that was taken last is the next again.
    func putBack(_ job: Job) {
        let isKept = state.withLock { state in
            guard state.closing == nil else { return false }
            state.waiting.insert(job, at: state.first)
            return true
        }
        if !isKept { settle(job, nil) }
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
            defer { state = State(closing: Closing(outcome: outcome)) }
            return Array(state.waiting[state.first...])
        }
        for job in waiting { job.answer(outcome) }
    }
}
