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
    private let waiting = Mutex(0)

    /// - Parameters:
    ///   - limit: for a name to be looked up, and for a file to begin.
    ///   - threads: most that may wait; beyond it nobody is asked.
    public init(_ limit: Duration, threads: Int = 16) {
        (self.limit, self.threads) = (limit, threads)
    }

    /// Does it on a thread of its own, which goes on alone when the time is over.
    ///
    /// - Parameter bytes: most that are read; a disk has a second for each megabyte of them.
    /// - Returns: nil where it took longer, or where too many threads wait already.
    public func within<Value: Sendable>(bytes: Int = 0, _ body: @escaping @Sendable () -> Value) -> Value? {
        let isFree = waiting.withLock { count in
            guard count < threads else { return false }
            count += 1
            return true
        }
        guard isFree else { return nil }
        let answer = Answer<Value>()
        let began = startThread { [self] in
            answer.give(body())
            waiting.withLock { $0 -= 1 }
        }
        guard began else {
            waiting.withLock { $0 -= 1 }
            return body()
        }
        return answer.wait(limit + .seconds(bytes / Self.slowestBytesASecond))
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
