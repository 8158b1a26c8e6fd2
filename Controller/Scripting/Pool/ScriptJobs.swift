import Automation
import Synchronization

/// What a script is to be called for, in the order in which it came, over all its processes. Each worker has a turn, which ends where the
/// next one begins; what it has under way then is asked again.
final class ScriptJobs: Sendable {
    struct Job: Sendable {
        let id: UInt64
        let call: ScriptCall
        let plugs: [PlugView]
        /// What the house keeps of the script, which the function is to find.
        let state: String?
        let time: ScriptTime
        /// Called once.
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
        /// The one under way, for as long as somebody wants its answer.
        var taken: Job?
        var turn = 0
        /// What all that comes is answered with.
        var closing: Closing?

        mutating func compact() {
            guard first >= 64, first * 2 >= waiting.count else { return }
            waiting.removeFirst(first)
            first = 0
        }

        /// False where nobody wants its answer any more, or another worker is to give it.
        mutating func end(_ job: Job, _ turn: Int) -> Bool {
            guard self.turn == turn, taken?.id == job.id else { return false }
            taken = nil
            return true
        }
    }

    private let state = Mutex(State())

    // MARK: - Of whoever asks

    /// Answered at once where it cannot wait.
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

    /// Whoever asked for it has gone: it is answered with nothing, and what comes of it is not wanted.
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

    /// Nothing is taken any more, and all that waits or is under way is answered with this.
    func close(_ outcome: ScriptOutcome?) {
        let open = state.withLock { state -> [Job] in
            defer { state = State(turn: state.turn, closing: Closing(outcome: outcome)) }
            return (state.taken.map { [$0] } ?? []) + state.waiting[state.first...]
        }
        for job in open { job.answer(outcome) }
    }

    // MARK: - Of its workers

    /// From now on it is this one's turn: what an earlier one has under way is the next again.
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

    /// What became of one that was taken.
    ///
    /// - Returns: false where nobody has heard of it.
    func settle(_ job: Job, _ outcome: ScriptOutcome?, _ turn: Int) -> Bool {
        guard state.withLock({ $0.end(job, turn) }) else { return false }
        job.answer(outcome)
        return true
    }

    /// The one that was taken last is the next again.
    func putBack(_ job: Job, _ turn: Int) {
        state.withLock { state in
            if state.end(job, turn) { state.waiting.insert(job, at: state.first) }
        }
    }
}
