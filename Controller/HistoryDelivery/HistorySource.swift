import Foundation
import PowerHistory
import Synchronization

/// The history to deliver, and the numbering of its changes. The methods block.
final class HistorySource: Sendable {
    /// The recorder that writes the history.
    private let recorder: PowerHistory
    private let state = Mutex(State())

    private struct State {
        /// A separate reader of the history, and the inode number of its file.
        var history: PowerHistory?
        var file: Int?
        var epoch: [UInt8]?
    }

    init(_ recorder: PowerHistory) { self.recorder = recorder }

    /// Returns the reader.
    func history() throws(DeliveryFault) -> PowerHistory {
        try attempt { state throws(HistoryError) -> PowerHistory in try history(&state) }
    }

    /// Returns the start position for a receiver that has all changes up to a position. The first call, and the first
    /// one after a repair of the history, begins a new epoch.
    func begin(after position: FeedPosition?) throws(DeliveryFault) -> FeedPosition {
        try attempt { state throws(HistoryError) -> FeedPosition in
            if let epoch = state.epoch, let number = try history(&state).number(after: position) {
                return FeedPosition(epoch: epoch, number: number)
            }
            let epoch = (0..<16).map { _ in UInt8.random(in: 0...255) }
            try recorder.beginFeed(epoch)
            state.epoch = epoch
            return FeedPosition(epoch: epoch, number: try history(&state).number(after: position) ?? 0)
        }
    }

    /// Returns true if changes follow a position of ``begin(after:)``, or nil if the position is no longer valid in
    /// this history.
    func hasMore(after position: FeedPosition) throws(DeliveryFault) -> Bool? {
        try attempt { state throws(HistoryError) -> Bool? in
            let history = try history(&state)
            guard state.epoch == position.epoch, try history.number(after: position) == position.number else {
                return nil
            }
            return try history.hasChanges(after: position.number)
        }
    }

    /// Returns the reader. If a repaired file has replaced a damaged one, opens the new file.
    private func history(_ state: inout State) throws(HistoryError) -> PowerHistory {
        let directory = recorder.directory
        let attributes = try? FileManager.default.attributesOfItem(atPath: directory + "/history.sqlite")
        let file = attributes?[.systemFileNumber] as? Int
        if let history = state.history, state.file == file { return history }
        let history = try PowerHistory(directory, role: .reader)
        (state.history, state.file) = (history, file)
        return history
    }

    private func attempt<Value: Sendable>(
        _ body: (inout State) throws(HistoryError) -> Value
    ) throws(DeliveryFault) -> Value {
        do throws(HistoryError) {
            return try state.withLock { state throws(HistoryError) in try body(&state) }
        } catch {
            throw DeliveryFault(error)
        }
    }
}

extension DeliveryFault {
    init(_ error: HistoryError) {
        self.init(reason: "the history cannot be read: \(error)", hint: error.hint)
    }
}
