import Glibc
import Synchronization

/// A time limit for calls to file systems. A network file system whose server is unreachable, or a FUSE file system,
/// may never answer: the call then blocks in the kernel, and no signal interrupts it.
public final class FileSystemTimeout: Sendable {
    /// The limit for the files that this process reads: 10 s.
    public static let ofFiles = FileSystemTimeout(.seconds(10))
    /// The lowest assumed read rate of a working disk in bytes per second: 1 MiB/s.
    private static let slowestBytesASecond = 1 << 20

    private let limit: Duration
    /// The maximum number of running calls, each with its own thread. Without this limit, repeated accesses to a file
    /// system that never answers would create more and more threads.
    private let threads: Int
    private let waiting = Mutex(Waiting())

    private struct Waiting {
        var count = 0
        /// The calls that exceeded their time and are still running, by place.
        var overdue: [String: Int] = [:]
    }

    /// Creates a time limit.
    ///
    /// - Parameters:
    ///   - limit: the time limit of a call. ``within(place:bytes:_:)`` extends it for calls that read many bytes.
    ///   - threads: the maximum number of running calls; further calls fail immediately.
    public init(_ limit: Duration, threads: Int = 16) {
        (self.limit, self.threads) = (limit, threads)
    }

    /// Runs the body on a dedicated thread, which continues after the time limit. If the system cannot create a thread,
    /// the body runs on the calling thread without a time limit.
    ///
    /// While a call for a place is overdue, further calls for that place fail immediately. So a directory whose file
    /// system does not answer blocks only one thread, even if it is read repeatedly. The other threads stay free for
    /// other directories.
    ///
    /// - Parameters:
    ///   - place: the directory, or the single file, that the body reads.
    ///   - bytes: the maximum number of bytes that the body reads; the limit is extended by 1 s per MiB.
    /// - Returns: nil if the time is over, if an earlier call for the place is overdue, or if too many calls are
    ///   running.
    public func within<Value: Sendable>(
        place: String, bytes: Int = 0, _ body: @escaping @Sendable () -> Value
    ) -> Value? {
        let isFree = waiting.withLock { waiting in
            guard waiting.count < threads, waiting.overdue[place] == nil else { return false }
            waiting.count += 1
            return true
        }
        guard isFree else { return nil }
        let answer = Answer<Value>()
        let progress = Progress()
        let call: @Sendable () -> Void = { [self] in
            let value = body()
            // The count decreases before the answer is given, because the caller may then immediately make its next
            // call.
            waiting.withLock { waiting in
                waiting.count -= 1
                guard progress.finish() else { return }
                waiting.overdue[place] = waiting.overdue[place].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
            answer.give(value)
        }
        do {
            try startThread(call)
        } catch {
            waiting.withLock { $0.count -= 1 }
            return body()
        }
        if let value = answer.wait(limit + .seconds(bytes / Self.slowestBytesASecond)) { return value }
        waiting.withLock { waiting in
            if progress.expire() { waiting.overdue[place, default: 0] += 1 }
        }
        return nil
    }
}

/// Determines which came first: the end of a call or its deadline. ``FileSystemTimeout`` calls its methods while
/// holding the lock of `waiting`.
private final class Progress: Sendable {
    private let state = Mutex((isFinished: false, isOverdue: false))

    /// Records the end of the call. Returns true if its deadline had already passed.
    func finish() -> Bool {
        state.withLock { state in
            state.isFinished = true
            return state.isOverdue
        }
    }

    /// Records that the deadline has passed. Returns true if the call has not finished.
    func expire() -> Bool {
        state.withLock { state in
            state.isOverdue = !state.isFinished
            return state.isOverdue
        }
    }
}

/// A value from another thread. Waiting for it uses the monotonic clock, which is never set.
private final class Answer<Value: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let isThere = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value?

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(isThere, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(isThere)
        pthread_mutex_destroy(mutex)
        isThere.deallocate()
        mutex.deallocate()
    }

    func give(_ value: Value) {
        pthread_mutex_lock(mutex)
        self.value = value
        pthread_cond_signal(isThere)
        pthread_mutex_unlock(mutex)
    }

    func wait(_ limit: Duration) -> Value? {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = limit.components
        end.tv_sec += Int(seconds)
        end.tv_nsec += Int(attoseconds / 1_000_000_000)
        if end.tv_nsec >= 1_000_000_000 { (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while value == nil, pthread_cond_timedwait(isThere, mutex, &end) == 0 {}
        return value
    }
}
