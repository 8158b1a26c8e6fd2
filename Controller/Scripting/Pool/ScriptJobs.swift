import Automation
import RuleModel
import Synchronization

/// The queue of calls to one script, in their order, across all of its processes. Each worker has a turn, which ends
/// when the next worker begins; a call that is running then is repeated by the next worker.
final class ScriptJobs: Sendable {
    struct Job: Sendable {
        let id: UInt64
        let call: ScriptCall
        let plugs: [PlugView]
        /// The stored state of the script, with which the function must run.
        let state: String?
        let time: ScriptTime
        /// Completes the call, exactly once.
        let answer: @Sendable (ScriptOutcome?) -> Void
        /// True if a process has ended during this call already.
        var isSecondTry = false
    }

    /// The maximum number of waiting calls of a script. The house stores at most this number of calls, so an excess is
    /// an error of the caller.
    static let most = ScriptLimits.calls

    private struct Closing {
        var outcome: ScriptOutcome?
    }

    private struct State {
        var waiting: [Job] = []
        /// The index of the first waiting job; the jobs before it were taken.
        var first = 0
        /// The running job, until it is completed or withdrawn.
        var taken: Job?
        var turn = 0
        /// The outcome of all further jobs, once the queue is closed.
        var closing: Closing?

        mutating func compact() {
            guard first >= 64, first * 2 >= waiting.count else { return }
            waiting.removeFirst(first)
            first = 0
        }

        /// Ends the running job. Returns false if the caller has withdrawn it, or if it belongs to another worker's
        /// turn.
        mutating func end(_ job: Job, _ turn: Int) -> Bool {
            guard self.turn == turn, taken?.id == job.id else { return false }
            taken = nil
            return true
        }
    }

    private let state = Mutex(State())

    // MARK: - For callers

    /// Adds a job, or completes it immediately if the queue is full or closed.
    func add(_ job: Job) {
        enum Place { case waits, full, closed(ScriptOutcome?) }
        let place = state.withLock { state -> Place in
            if let closing = state.closing { return .closed(closing.outcome) }
            guard state.waiting.count - state.first < Self.most else { return .full }
            state.waiting.append(job)
            return .waits
        }
        switch place {
        case .waits: break
        case .full: job.answer(.failed("more than \(Self.most) events wait for the script"))
        case .closed(let outcome): job.answer(outcome)
        }
    }

    /// Withdraws a job: completes it with nil, and ignores its result.
    func giveUp(_ id: UInt64) {
        let job = state.withLock { state -> Job? in
            if let taken = state.taken, taken.id == id {
                state.taken = nil
                return taken
            }
            guard let index = state.waiting[state.first...].firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiting.remove(at: index)
        }
        job?.answer(nil)
    }

    /// Closes the queue. Completes the waiting and the running jobs, and all later ones, with the outcome.
    func close(_ outcome: ScriptOutcome?) {
        let open = state.withLock { state -> [Job] in
            defer { state = State(turn: state.turn, closing: Closing(outcome: outcome)) }
            return (state.taken.map { [$0] } ?? []) + state.waiting[state.first...]
        }
        for job in open { job.answer(outcome) }
    }

    // MARK: - For workers

    /// Begins a worker's turn. The running job of the previous worker becomes the first waiting job.
    func begin() -> Int {
        state.withLock { state in
            state.turn += 1
            if var job = state.taken {
                job.isSecondTry = false
                state.waiting.insert(job, at: state.first)
                state.taken = nil
            }
            return state.turn
        }
    }

    func isOver(_ turn: Int) -> Bool { state.withLock { $0.closing != nil || $0.turn != turn } }

    func next(_ turn: Int) -> Job? {
        state.withLock { state in
            guard state.turn == turn, state.first < state.waiting.count else { return nil }
            let job = state.waiting[state.first]
            state.first += 1
            state.compact()
            state.taken = job
            return job
        }
    }

    /// Completes the running job.
    ///
    /// - Returns: false if the job was withdrawn or belongs to another turn, so that the outcome was ignored.
    func settle(_ job: Job, _ outcome: ScriptOutcome?, _ turn: Int) -> Bool {
        guard state.withLock({ $0.end(job, turn) }) else { return false }
        job.answer(outcome)
        return true
    }

    /// Makes the running job the first waiting job again.
    func putBack(_ job: Job, _ turn: Int) {
        state.withLock { state in
            if state.end(job, turn) { state.waiting.insert(job, at: state.first) }
        }
    }
}
