import LinuxClocks
public import Logging
import NIOCore
import PlugModel
import ProtocolCore
import Synchronization

/// Hands what is logged, on whatever thread, to the plug's loop, for those who follow the log over a session. As long as
/// nobody does, only what is written anyway is handed on, and all else costs the comparison of two numbers.
///
/// Setup code, keys and proofs are in no line at any level: whoever is paired may read the log.
public final class LogRelay: Sendable {
    /// Lines that wait for the loop: those that a plug remembers. A loop that is held up so long loses the newest, which are
    /// counted.
    private static let limit = 200

    private struct State {
        var waiting: [LogLine] = []
        var lost: UInt64 = 0
        var number: UInt64 = 0
        var loop: (any EventLoop)?
        var wake: (@Sendable () -> Void)?
        /// The loop was woken and has not come yet.
        var isWoken = false
        var isHandingOver = false
    }

    private let state = Mutex(State())
    /// The place of ``followed`` among all levels; beyond them where nobody follows.
    private let severity = Atomic(Int.max)

    public init() {}

    /// Writes what `base` writes, to where it writes it, and relays it.
    public func handler(over base: any LogHandler) -> any LogHandler { RelayedLogHandler(base, to: self) }

    /// From now on `wake` is called, on the loop, when there are lines for ``handOver(_:)``; at once if there are.
    func attach(to loop: any EventLoop, wake: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            state.loop = loop
            state.wake = wake
            state.isWoken = !state.waiting.isEmpty
            return state.isWoken
        }
        if isDue { loop.execute(wake) }
    }

    /// What is logged now waits for the next one.
    func detach() { state.withLock { ($0.loop, $0.wake) = (nil, nil) } }

    /// Gives all that waits. What is logged meanwhile on the loop is caused by it and not relayed: each line would cause the
    /// next.
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

    /// Somebody wants everything from this level on; nil: nobody wants anything.
    func follow(_ level: LogLevel?) { severity.store(level?.severity ?? .max, ordering: .relaxed) }

    /// The level from which on somebody follows. It is asked for at every statement that might log: no array, no lock.
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

    func take(_ level: LogLevel, part: String, _ message: String) {
        let due = state.withLock { state -> (loop: any EventLoop, wake: @Sendable () -> Void)? in
            if state.isHandingOver, state.loop?.inEventLoop == true { return nil }
            state.number += 1
            guard state.waiting.count < Self.limit else {
                state.lost += 1
                return nil
            }
            // Under the lock, so that later lines have later times.
            state.waiting.append(
                LogLine(number: state.number, time: BootClock.now, level: level, part: part, message: message))
            guard !state.isWoken, let loop = state.loop, let wake = state.wake else { return nil }
            state.isWoken = true
            return (loop, wake)
        }
        // Also on the loop itself: what it is doing comes first.
        if let due { due.loop.execute(due.wake) }
    }
}
