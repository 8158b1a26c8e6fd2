import PowerHistory
import ProtocolCore

/// The queue of writes to the history. Changes that arrive within `gathering` share one transaction. While writes fail,
/// events stay in the queue and sample chunks are dropped, because the plugs still have them.
struct RecordQueue {
    /// The time that a change waits for further changes.
    static let gathering = Duration.milliseconds(250)
    /// The maximum number of queued events, counter readings, firings and traces. Prevents a disk that is full for days
    /// from filling the memory.
    static let limit = 16_384
    /// The delay after the first failure. It doubles with each further failure.
    static let firstRetry = Duration.seconds(1)
    /// The maximum delay. It is short, because a killed process loses the changes that are not written.
    static let longestRetry = Duration.seconds(10)

    private var waiting = HistoryBatch()
    private var waitingAnswers: [BackfillResult] = []
    private var underWay: (batch: HistoryBatch, answers: [BackfillResult])?
    private var due: Instant?
    private var failures = 0

    /// True if nothing is queued and no write is in progress.
    var isEmpty: Bool { due == nil && underWay == nil }
    var isWriting: Bool { underWay != nil }
    /// True if another fetched window may be queued. Prevents a hanging disk from filling the memory with windows that
    /// are fetched again and again.
    var hasRoomForAnswer: Bool { waitingAnswers.count < 2 * BackfillPlan.atATime }
    var isFull: Bool { waiting.size + (underWay?.batch.size ?? 0) >= Self.limit }
    /// True if the last write failed.
    var isFailing: Bool { failures > 0 }
    /// The time of the next write; nil if nothing is queued or a write is in progress.
    var nextDeadline: Instant? { underWay == nil ? due : nil }

    /// Queues a change.
    ///
    /// - Returns: False if the queue is full and nothing was added.
    @discardableResult
    mutating func add(now: Instant, _ change: (inout HistoryBatch) -> Void) -> Bool {
        guard !isFull else { return false }
        change(&waiting)
        wants(now: now)
        return true
    }

    /// Queues the result of a fetched window.
    mutating func add(_ answer: BackfillResult, now: Instant) {
        waiting.chunks += answer.chunks
        if let fetched = answer.fetched { waiting.fetched.append(fetched) }
        waitingAnswers.append(answer)
        wants(now: now)
    }

    private mutating func wants(now: Instant) { if due == nil { due = now + Self.gathering } }

    /// Makes queued changes due now, because no further changes will arrive.
    mutating func hurry(now: Instant) { if due != nil { due = now } }

    /// Returns the changes to write now, or nil. The caller calls ``ended(stored:now:)`` after the write.
    mutating func begin(now: Instant) -> HistoryBatch? {
        guard let next = nextDeadline, next <= now else { return nil }
        underWay = (waiting, waitingAnswers)
        (waiting, waitingAnswers, due) = (HistoryBatch(), [], nil)
        return underWay?.batch
    }

    /// Handles the end of a write. After a failure, everything except sample chunks is queued again.
    ///
    /// - Returns: The results of fetched windows in the write. They are stored after a success and dropped after a
    ///   failure.
    mutating func ended(stored: Bool, now: Instant) -> [BackfillResult] {
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
    /// The number of changes that count toward `limit`: all except names and samples.
    fileprivate var size: Int { events.count + counters.count + firings.count + traces.count }

    /// Appends later changes.
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
