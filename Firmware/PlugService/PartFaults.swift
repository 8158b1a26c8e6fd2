import NIOCore
import PlugHardware

/// The faults of the parts, and the failed operations, which are retried.
struct PartFaults {
    typealias Operation = () throws(HardwareFault) -> Void

    /// A change of an operation's result.
    enum Change {
        case failed(HardwareFault)
        case works
    }

    /// The last fault of each operation.
    private var faults: [String: HardwareFault] = [:]
    /// The last failed operation for each purpose.
    private(set) var unfinished: [String: Operation] = [:]
    private var retry: Scheduled<Void>?

    /// The operations whose last attempt failed, in order, with their faults.
    var all: [(what: String, fault: HardwareFault)] { faults.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

    /// Records the result of an operation. Returns the change; nil if the result is the previous one.
    mutating func note(_ what: String, _ fault: HardwareFault?) -> Change? {
        guard let fault else { return !faults.isEmpty && faults.removeValue(forKey: what) != nil ? .works : nil }
        return faults.updateValue(fault, forKey: what) == fault ? nil : .failed(fault)
    }

    /// Removes an operation that succeeded from those to retry.
    mutating func succeeded(_ what: String) { if !unfinished.isEmpty { unfinished[what] = nil } }

    /// Adds an operation to those to retry. It replaces the last one for the same purpose.
    mutating func postpone(_ what: String, _ operation: @escaping Operation) { unfinished[what] = operation }

    /// Schedules the next attempt if none is scheduled.
    mutating func scheduleRetry(_ schedule: () -> Scheduled<Void>) { if retry == nil { retry = schedule() } }

    /// Returns the operations to retry when the scheduled attempt is due.
    mutating func takeRetry() -> [String: Operation] {
        retry = nil
        return unfinished
    }

    /// Ends all attempts.
    mutating func stop() {
        retry?.cancel()
        unfinished = [:]
    }
}
