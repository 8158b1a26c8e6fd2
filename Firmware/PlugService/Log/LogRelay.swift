import LinuxSystem
public import Logging
import NIOCore
import PlugModel
import ProtocolCore
import Synchronization

/// Passes log lines of all threads to the plug's event loop, for sessions that follow the log. If no session follows,
/// only lines at or above the configured level are passed on, and any other log statement costs the comparison of two
/// numbers.
///
/// Log lines of any level contain no setup code, key or proof, because every owner may read the log over the network.
public final class LogRelay: Sendable {
    /// The maximum number of lines that wait for the loop: as many as a plug remembers. If more lines arrive while the
    /// loop is blocked, the newest ones are dropped and counted.
    private static let limit = 200

    private struct State {
        var waiting: [LogLine] = []
        var lost: UInt64 = 0
        var number: UInt64 = 0
        var loop: (any EventLoop)?
        var wake: (@Sendable () -> Void)?
        /// True while the loop has been woken but has not yet run.
        var isWoken = false
        var isHandingOver = false
    }

    private let state = Mutex(State())
    /// The severity of ``followed``, or `Int.max` if no session follows the log.
    private let severity = Atomic(Int.max)

    /// Creates a relay without a loop.
    public init() {}

    /// Returns a handler that writes like `base` and relays each line.
    public func handler(over base: any LogHandler) -> any LogHandler { RelayedLogHandler(base, to: self) }

    /// Calls `wake` on the loop whenever lines wait for ``handOver(_:)``, and at once if some wait now.
    func attach(to loop: any EventLoop, wake: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            state.loop = loop
            state.wake = wake
            state.isWoken = !state.waiting.isEmpty
            return state.isWoken
        }
        if isDue { loop.execute(wake) }
    }

    /// Detaches the relay from the loop. Later lines wait for the next loop.
    func detach() { state.withLock { ($0.loop, $0.wake) = (nil, nil) } }

    /// Passes all waiting lines to `take`. Lines that the loop logs during the call are not relayed, because each of
    /// them would cause the next one.
    func handOver(_ take: ([LogLine], _ lost: UInt64) -> Void) {
        let (lines, lost) = state.withLock { state in
            defer { (state.waiting, state.lost) = ([], 0) }
            state.isWoken = false
            state.isHandingOver = true
            return (state.waiting, state.lost)
        }
        take(lines, lost)
        state.withLock { $0.isHandingOver = false }
    }

    /// Sets the lowest level that a session follows, or nil if no session follows the log.
    func follow(_ level: LogLevel?) { severity.store(level?.severity ?? .max, ordering: .relaxed) }

    /// The lowest level that a session follows, or nil if no session follows the log. Every log statement reads this
    /// value, so the getter uses no lock and no array.
    var followed: Logger.Level? {
        switch severity.load(ordering: .relaxed) {
        case 0: .trace
        case 1: .debug
        case 2: .info
        case 3: .notice
        case 4: .warning
        case 5: .error
        case 6: .critical
        case _: nil
        }
    }

    func receive(_ level: LogLevel, part: String, _ message: String) {
        let due = state.withLock { state -> (loop: any EventLoop, wake: @Sendable () -> Void)? in
            if state.isHandingOver, state.loop?.inEventLoop == true { return nil }
            state.number += 1
            guard state.waiting.count < Self.limit else {
                state.lost += 1
                return nil
            }
            // The time is read under the lock, so that later lines have later times.
            state.waiting.append(
                LogLine(number: state.number, time: BootClock.now, level: level, part: part, message: message))
            guard !state.isWoken, let loop = state.loop, let wake = state.wake else { return nil }
            state.isWoken = true
            return (loop, wake)
        }
        // The loop runs this later even if it is the current thread, so that its current work comes first.
        if let due { due.loop.execute(due.wake) }
    }
}
