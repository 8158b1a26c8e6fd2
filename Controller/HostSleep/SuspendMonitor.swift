import CSystemBus
internal import Glibc
import Processes
import Synchronization

/// Follows the suspends of this machine through logind, and delays each one until the user of this monitor is ready.
///
/// libsystemd is loaded when it is first needed. Without it, or without logind, the machine sleeps without notice.
public final class SuspendMonitor: Sendable {
    /// A notice of logind.
    public enum Signal: Hashable, Sendable {
        /// The machine is about to sleep. It sleeps after ``SuspendMonitor/permit()``, or after `limit`.
        case suspending(limit: Duration)
        /// The machine is awake again, or the suspend was cancelled.
        case resumed
    }

    /// The delay that logind permits if it does not report one.
    private static let usualDelay = Duration.seconds(5)

    private let why: String
    /// The descriptor of the lock that delays the next suspend.
    private let lock = Mutex<CInt?>(nil)

    /// Creates a monitor.
    ///
    /// - Parameter why: the reason for the delay, which `systemd-inhibit --list` shows.
    public init(why: String) { self.why = why }

    deinit { permit() }

    /// Permits the suspend that was announced by ``Signal/suspending(limit:)``.
    public func permit() {
        lock.withLock { lock in
            if let lock { close(lock) }
            lock = nil
        }
    }

    /// Follows the suspends until the connection to logind ends or the task is cancelled.
    ///
    /// - Parameter handle: called on the monitor's own thread with each signal, and with nil when the lock is held for
    ///   the first time.
    /// - Returns: the reason why the connection failed or ended, or nil if the task was cancelled.
    public func follow(_ handle: @escaping @Sendable (Signal?) -> Void) async -> String? {
        let end = await DedicatedThread.result { [self] interruption in run(interruption, handle) }
        permit()
        guard let end else { return "no thread is available" }
        return end.reason
    }

    /// Returns the reason why this machine's suspends cannot be followed, or nil if they can.
    public static func fault() async -> String? {
        let check = await DedicatedThread.result { _ in
            do throws(LogindFault) {
                let link = try Logind()
                close(try link.inhibit("checks the connection"))
                return End(reason: nil)
            } catch {
                return End(reason: error.description)
            }
        }
        return check.map(\.reason) ?? "no thread is available"
    }

    private struct End: Sendable { let reason: String? }

    private func run(_ interruption: PollWaker, _ handle: (Signal?) -> Void) -> End {
        do throws(LogindFault) {
            let link = try Logind()
            let longest = link.longestDelay ?? Self.usualDelay
            try hold(link)
            handle(nil)
            while true {
                switch try link.wait(interruption.reading) {
                case smartplug_logind_suspending: handle(.suspending(limit: longest))
                case smartplug_logind_awake:
                    handle(.resumed)
                    try hold(link)
                case _: return End(reason: nil)
                }
            }
        } catch {
            return End(reason: error.description)
        }
    }

    private func hold(_ link: Logind) throws(LogindFault) {
        let new = try link.inhibit(why)
        let old = lock.withLock { lock in
            defer { lock = new }
            return lock
        }
        if let old { close(old) }
    }
}

/// The reason why logind cannot be used.
private struct LogindFault: Error, CustomStringConvertible { let description: String }

/// A connection to logind, for one thread.
private final class Logind {
    private let link: OpaquePointer

    init() throws(LogindFault) {
        link = try Self.attempt { smartplug_logind_open($0, $1) }
    }

    deinit { smartplug_logind_close(link) }

    /// The time for which a lock delays a suspend; nil if logind does not report it.
    var longestDelay: Duration? {
        let microseconds = smartplug_logind_longest_delay(link)
        return microseconds == 0 ? nil : .microseconds(Int64(clamping: microseconds))
    }

    func inhibit(_ why: String) throws(LogindFault) -> CInt {
        try Self.attempt { reason, size in
            let lock = smartplug_logind_inhibit(link, "plugctl", why, reason, size)
            return lock < 0 ? nil : lock
        }
    }

    func wait(_ interruption: CInt) throws(LogindFault) -> smartplug_logind_signal {
        try Self.attempt { reason, size in
            let signal = smartplug_logind_wait(link, interruption, reason, size)
            return signal == smartplug_logind_lost ? nil : signal
        }
    }

    /// Returns the result of a function that returns nil on failure, and then writes a reason.
    private static func attempt<Value>(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> Value?
    ) throws(LogindFault) -> Value {
        var reason = [CChar](repeating: 0, count: 400)
        let value = reason.withUnsafeMutableBufferPointer { room in body(room.baseAddress!, room.count) }
        guard let value else {
            throw LogindFault(
                description: String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return value
    }
}
