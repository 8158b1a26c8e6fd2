import Appliance
import NIOCore
import PlugModel
import Storage

/// The waiting writes to flash, and the messages that wait for a write.
struct FlashQueue: Sendable {
    /// The wait of all messages for a write of the list of controllers.
    private struct Hold {
        /// The number of the write.
        var job: UInt64
        var timeout: Scheduled<Void>
    }

    /// The writes in order. The first one is in progress. At most one write of each kind waits, the newest, so a
    /// storage that hangs needs only limited memory.
    private(set) var jobs: [FlashJob] = []
    /// The held messages: at most one write of the list of controllers, and for each connection at most what its
    /// session may leave unread.
    private(set) var heldActions: [PlugMachine.Action] = []
    private var lastNumber: UInt64 = 0
    private var hold: Hold?

    /// True if messages wait until the list of controllers is in flash.
    var holdsMessages: Bool { hold != nil }
    /// True if no write is in progress or waits, and no message waits.
    var isIdle: Bool { jobs.isEmpty && hold == nil }

    /// Adds a write, which replaces a waiting one of the same kind.
    ///
    /// - Parameters:
    ///   - key: The key to store before the list of controllers.
    ///   - boundary: The boundary that the write reserves.
    /// - Returns: The number of the write.
    mutating func add(
        _ kind: FlashJob.Kind, _ write: FlashWrite, key: FlashJob.Key? = nil, boundary: SequenceNumber? = nil
    ) -> UInt64 {
        lastNumber += 1
        let job = FlashJob(kind: kind, number: lastNumber, write: write, key: key, boundary: boundary)
        if let index = jobs.dropFirst().firstIndex(where: { $0.kind == kind }) { jobs.remove(at: index) }
        // A boundary is next in the queue, so events wait for at most two writes.
        if kind == .boundary, !jobs.isEmpty { jobs.insert(job, at: 1) } else { jobs.append(job) }
        return lastNumber
    }

    /// Removes the write that was in progress.
    mutating func finish() -> FlashJob { jobs.removeFirst() }

    /// Holds messages until ``release(_:)`` with this number. An earlier hold continues with this number.
    mutating func holdMessages(until job: UInt64, timeout: Scheduled<Void>) {
        hold?.timeout.cancel()
        hold = Hold(job: job, timeout: timeout)
    }

    /// Adds a message that waits.
    mutating func add(_ action: PlugMachine.Action) {
        // The newest list supersedes the previous one, so one write is enough.
        if case .keep = action, let index = heldActions.firstIndex(where: \.isKeep) {
            heldActions[index] = action
        } else {
            heldActions.append(action)
        }
    }

    /// Ends the wait for this write and returns the messages; nil if no message waits for it, because the wait timed
    /// out or a newer list has replaced the list.
    mutating func release(_ job: UInt64) -> [PlugMachine.Action]? {
        guard let ended = hold, ended.job == job else { return nil }
        ended.timeout.cancel()
        hold = nil
        defer { heldActions = [] }
        return heldActions
    }
}

extension PlugMachine.Action {
    fileprivate var isKeep: Bool { if case .keep = self { true } else { false } }
}
