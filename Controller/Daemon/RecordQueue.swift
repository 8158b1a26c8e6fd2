import PowerHistory
import ProtocolCore

/// What waits to be written to the history. What comes within a moment shares one transaction; while nothing can be written,
/// events wait, and pieces of samples are given up: the plugs have them still.
struct RecordQueue {
    /// How long what has come waits for more.
    static let gathering = Duration.milliseconds(250)
    /// Events, counter readings, firings and traces that wait. Stops a disk that is full for days from filling the memory.
    static let limit = 16_384
    static let firstRetry = Duration.seconds(1)
    /// What came since the last try is lost where the process is killed.
    static let longestRetry = Duration.seconds(10)

    private var waiting = HistoryBatch()
    private var waitingAnswers: [WindowAnswer] = []
    private var underWay: (batch: HistoryBatch, answers: [WindowAnswer])?
    private var due: Instant?
    private var failures = 0

    /// Nothing waits and nothing is being written.
    var isEmpty: Bool { due == nil && underWay == nil }
    var isWriting: Bool { underWay != nil }
    /// Stops a disk that hangs from filling the memory with pieces that are asked for again and again.
    var hasRoomForAnswer: Bool { waitingAnswers.count < 2 * BackfillPlan.atATime }
    var isFull: Bool { waiting.size + (underWay?.batch.size ?? 0) >= Self.limit }
    /// The last write failed.
    var isFailing: Bool { failures > 0 }
    /// When the next write should begin; nil while one is under way, whose end is waited for.
    var nextDeadline: Instant? { underWay == nil ? due : nil }

    /// - Returns: false where there is no room, and nothing was added.
    @discardableResult
    mutating func add(now: Instant, _ change: (inout HistoryBatch) -> Void) -> Bool {
        guard !isFull else { return false }
        change(&waiting)
        wants(now: now)
        return true
    }

    mutating func add(_ answer: WindowAnswer, now: Instant) {
        waiting.chunks += answer.chunks
        if let fetched = answer.fetched { waiting.fetched.append(fetched) }
        waitingAnswers.append(answer)
        wants(now: now)
    }

    private mutating func wants(now: Instant) { if due == nil { due = now + Self.gathering } }

    /// Nothing more will come to wait for.
    mutating func hurry(now: Instant) { if due != nil { due = now } }

    /// What to write now; to be answered with ``ended(_:now:)``.
    mutating func begin(now: Instant) -> HistoryBatch? {
        guard let next = nextDeadline, next <= now else { return nil }
        underWay = (waiting, waitingAnswers)
        (waiting, waitingAnswers, due) = (HistoryBatch(), [], nil)
        return underWay?.batch
    }

    /// The write has ended.
    ///
    /// - Returns: the answers that it held: they are stored, or given up.
    mutating func ended(stored: Bool, now: Instant) -> [WindowAnswer] {
        guard let (batch, answers) = underWay else { preconditionFailure("no write was under way") }
        underWay = nil
        guard !stored else {
            failures = 0
            return answers
        }
        failures += 1
        var rest = batch
        (rest.chunks, rest.fetched) = ([], [])
        rest.append(waiting)
        waiting = rest
        due = now + min(Self.longestRetry, Self.firstRetry * (1 << min(failures - 1, 6)))
        return answers
    }
}

extension HistoryBatch {
    /// Of what nobody could ask for again.
    fileprivate var size: Int { events.count + counters.count + firings.count + traces.count }

    /// What came later.
    fileprivate mutating func append(_ later: HistoryBatch) {
        names.merge(later.names) { $1 }
        chunks += later.chunks
        fetched += later.fetched
        counters += later.counters
        events += later.events
        firings += later.firings
        traces += later.traces
    }
}
