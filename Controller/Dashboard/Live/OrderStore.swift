import PlugModel

/// The order of plugs, which the owners arrange, in a file of the daemon.
public final class OrderStore: Sendable {
    private let file: JSONFile<[String]>

    /// Refers to the file in a directory. Nothing is read yet.
    public init(directory: String) { file = JSONFile(directory + "/order.json", empty: []) }

    /// Returns the arranged plugs in their order.
    ///
    /// - Throws: `FileError`, or `DecodingError` if the file is damaged.
    func read() throws -> [PlugID] { try file.read().compactMap(PlugID.init(rawValue:)) }

    /// Replaces and stores the order.
    ///
    /// - Throws: see ``read()``. The order then stays as it was.
    func arrange(_ plugs: [PlugID]) throws { try file.change { $0 = plugs.map(\.rawValue) } }
}
