import Foundation
import LinuxSystem
import PlugModel
import Synchronization

/// The rooms of plugs, which the owners assign, in a file of the daemon.
public final class RoomStore: Sendable {
    /// The maximum size of the file in bytes: 1,280 plugs with the longest names of rooms.
    private static let limit = 262_144

    private let path: String
    private let files = FileStore()
    /// The content of the file; nil before it was read.
    private let rooms = Mutex<[PlugID: String]?>(nil)

    /// Refers to the file in a directory. Nothing is read yet.
    public init(directory: String) { path = directory + "/rooms.json" }

    /// Returns the room of each plug that has one.
    ///
    /// - Throws: `FileError`, or `DecodingError` if the file is damaged.
    func read() throws -> [PlugID: String] { try rooms.withLock { try load(&$0) } }

    /// Moves a plug to a room and stores the rooms.
    ///
    /// - Parameter room: the name of the room; nil for none.
    /// - Throws: see ``read()``; `Fault` if the file would be too large. The rooms then stay as they were.
    /// - Returns: the room of each plug that has one.
    func assign(_ room: String?, to plug: PlugID) throws -> [PlugID: String] {
        try rooms.withLock { known in
            var changed = try load(&known)
            changed[plug] = room
            let text = changed.reduce(into: [String: String]()) { $0[$1.key.rawValue] = $1.value }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let bytes = try Array(encoder.encode(text))
            guard bytes.count <= Self.limit else {
                throw Fault.outOfRange("the file with the rooms would be larger than \(Self.limit) bytes")
            }
            try files.makeDirectories(parentDirectory(of: path))
            try files.replace(path, with: bytes)
            known = changed
            return changed
        }
    }

    private func load(_ known: inout [PlugID: String]?) throws -> [PlugID: String] {
        if let known { return known }
        let bytes = try files.readIfPresent(path, limit: Self.limit)
        let text = try bytes.map { try JSONDecoder().decode([String: String].self, from: Data($0)) } ?? [:]
        let rooms = text.reduce(into: [PlugID: String]()) { rooms, entry in
            if let plug = PlugID(rawValue: entry.key) { rooms[plug] = entry.value }
        }
        known = rooms
        return rooms
    }
}
