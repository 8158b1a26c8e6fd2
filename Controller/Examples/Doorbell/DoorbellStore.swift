import Foundation
import PlugModel

/// The number of rings and the last handled event of each plug, in one file.
struct DoorbellStore {
    private struct Content: Codable {
        var rings = 0
        /// By plug id.
        var lastSequences: [String: SequenceNumber] = [:]
    }

    private let file: URL
    private var content = Content()

    /// Reads the file. A missing file is an empty store.
    init(_ file: URL) throws {
        self.file = file
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: file))
    }

    func lastSequence(of plug: PlugID) -> SequenceNumber? { content.lastSequences[plug.rawValue] }

    mutating func setLastSequence(_ sequence: SequenceNumber, of plug: PlugID) {
        content.lastSequences[plug.rawValue] = sequence
    }

    mutating func ring() { content.rings += 1 }

    /// Writes all changes of the body at once, or none if the write fails.
    mutating func transaction(_ body: (inout DoorbellStore) -> Void) throws {
        var changed = self
        body(&changed)
        try JSONEncoder().encode(changed.content).write(to: file, options: .atomic)
        if changed.content.rings > content.rings { print("Ding dong, ring \(changed.content.rings)") }
        self = changed
    }
}
