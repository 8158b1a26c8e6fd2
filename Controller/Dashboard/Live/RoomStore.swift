import PlugModel

/// The rooms of plugs, which the owners assign, in a file of the daemon.
public final class RoomStore: Sendable {
    private let file: JSONFile<[String: String]>

    /// Refers to the file in a directory. Nothing is read yet.
    public init(directory: String) { file = JSONFile(directory + "/rooms.json", empty: [:]) }

    /// Returns the room of each plug that has one.
    ///
    /// - Throws: `FileError`, or `DecodingError` if the file is damaged.
    func read() throws -> [PlugID: String] { Self.rooms(try file.read()) }

    /// Moves a plug to a room and stores the rooms.
    ///
    /// - Parameter room: the name of the room; nil for none.
    /// - Throws: see ``read()``; `Fault` if the file would be too large. The rooms then stay as they were.
    /// - Returns: the room of each plug that has one.
    func assign(_ room: String?, to plug: PlugID) throws -> [PlugID: String] {
        try file.change { rooms in
            rooms[plug.rawValue] = room
            return Self.rooms(rooms)
        }
    }

    private static func rooms(_ text: [String: String]) -> [PlugID: String] {
        text.reduce(into: [:]) { rooms, entry in
            if let plug = PlugID(rawValue: entry.key) { rooms[plug] = entry.value }
        }
    }
}
