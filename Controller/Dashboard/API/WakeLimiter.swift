import HTTPTypes
import HostSleep
import LinuxSystem
import ProtocolCore
import Synchronization

/// Limits the wakes that requests start: each occupies a thread for up to a minute, and sends packets to every host of
/// the network.
struct WakeLimiter {
    /// The maximum number of wakes that start within ``period``. Each ends within the period, so it also limits the
    /// wakes at the same time.
    static let limit = 10
    static let period = Waker.limit

    /// The reason why a wake must not start.
    enum Refusal: Hashable, Sendable {
        /// The machine is already being woken.
        case inProgress
        /// - Parameter wait: the time until the next wake may start.
        case tooMany(wait: Duration)
    }

    private var inProgress: Set<String> = []
    /// The starts within the last period, oldest first.
    private var starts: [Instant] = []

    /// Registers a wake. Returns why it must not start; nil if it may.
    mutating func begin(_ machine: String, now: Instant) -> Refusal? {
        guard !inProgress.contains(machine) else { return .inProgress }
        starts.removeAll { now - $0 >= Self.period }
        if starts.count >= Self.limit, let oldest = starts.first { return .tooMany(wait: Self.period - (now - oldest)) }
        starts.append(now)
        inProgress.insert(machine)
        return nil
    }

    mutating func end(_ machine: String) { inProgress.remove(machine) }
}

/// The wakes that requests of both sockets started.
final class WakeRequests: Sendable {
    private let limiter = Mutex(WakeLimiter())

    /// Runs the body unless ``WakeLimiter`` refuses it.
    ///
    /// - Parameter machine: the exact name of the machine.
    /// - Throws: ``Fault`` with status 409 or 429, or the error of the body.
    func perform<Answer>(_ machine: String, _ body: () async throws -> Answer) async throws -> Answer {
        switch limiter.withLock({ $0.begin(machine, now: BootClock.now) }) {
        case .inProgress:
            throw Fault(.conflict, "\(machine) is already being woken", hint: "try again in a minute")
        case .tooMany(let wait):
            let seconds = wait.components.seconds + 1
            throw Fault(
                .tooManyRequests, "\(WakeLimiter.limit) machines were woken within a minute",
                hint: "try again in \(seconds) s", headers: [.retryAfter: "\(seconds)"])
        case nil: break
        }
        defer { limiter.withLock { $0.end(machine) } }
        return try await body()
    }
}
