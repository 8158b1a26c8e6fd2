import Glibc
import Synchronization

/// How long a file system may take. One on a network whose server is away, or one that a program serves, may never answer: the call
/// then stays in the kernel, and no signal ends it.
public final class Patience: Sendable {
    /// What this process has with the files that it reads.
    public static let ofFiles = Patience(.seconds(10))
    /// Less in a second is no disk.
    private static let slowestBytesASecond = 1 << 20

    private let limit: Duration
    /// Stops each try at a file system that never answers from leaving one thread more.
    private let threads: Int
    private let waiting = Mutex(Waiting())

    private struct Waiting {
        var count = 0
        /// Calls whose time is over and that still are under way, by the place that they ask.
        var overdue: [String: Int] = [:]
    }

    /// - Parameters:
    ///   - limit: for a name to be looked up, and for a file to begin.
    ///   - threads: most that may wait; beyond it nobody is asked.
    public init(_ limit: Duration, threads: Int = 16) {
        (self.limit, self.threads) = (limit, threads)
    }

    /// Runs the body on its own thread, which continues when the time is over.
    ///
    /// While a call to a place is overdue, further calls to that place fail at once: a directory whose file system does not answer
    /// blocks one thread, however often it is read, and leaves the others to the other directories.
    ///
    /// - Parameters:
    ///   - place: the directory, or the file in no particular directory, that the body reads.
    ///   - bytes: most that are read; a disk has a second for each megabyte of them.
    /// - Returns: nil if the time is over, if an earlier call to the place is overdue, or if too many threads wait already.
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
        let began = startThread { [self] in
            let value = body()
            // Before the answer: the caller may make its next call as soon as it has the answer.
            waiting.withLock { waiting in
                waiting.count -= 1
                guard progress.finish() else { return }
                waiting.overdue[place] = waiting.overdue[place].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
            answer.give(value)
        }
        guard began else {
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

/// Which came first: the end of a call or the end of its time. ``Patience`` asks while it holds its lock.
private final class Progress: Sendable {
    private let state = Mutex((isFinished: false, isOverdue: false))

    /// - Returns: true if the call was overdue.
    func finish() -> Bool {
        state.withLock { state in
            state.isFinished = true
            return state.isOverdue
        }
    }

    /// - Returns: true if the call has not finished.
    func expire() -> Bool {
        state.withLock { state in
            state.isOverdue = !state.isFinished
            return state.isOverdue
        }
    }
}

/// One value that comes from another thread, waited for by the clock that nobody sets.
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

private final class ThreadBody {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// - Returns: false where the system gives no thread.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let context = Unmanaged.passRetained(ThreadBody(body))
    var thread = pthread_t()
    let error = pthread_create(
        &thread, &attributes,
        { context in
            Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().run()
            return nil
        }, context.toOpaque())
    if error != 0 { context.release() }
    return error == 0
}
