import Foundation

/// Measures the memory that a broker connection adds to `plugd`, by comparison with a `plugd` without a broker.
struct PlugMemory {
    let broker: MosquittoBroker
    /// The number of processes of each kind. The figure uses medians, so that a single allocation has no effect.
    private static let plugs = 3

    func figures() throws -> [Figure] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plug-memory-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/plugd.toml"
        let text = "[mqtt]\nhost = \"127.0.0.1\"\nport = \(broker.port)\ntls = \"off\"\nhouse = \"memory\"\n"
        try Data(text.utf8).write(to: URL(filePath: file))
        let plain = try (0..<Self.plugs).map { try MeasuredPlugd(folder + "/plain\($0)", []) }
        let connected = try (0..<Self.plugs).map { try MeasuredPlugd(folder + "/broker\($0)", ["--config", file]) }
        defer { for plug in plain + connected { plug.stop() } }
        for plug in plain { try plug.says { _ in true } }
        for plug in connected { try plug.says { $0.contains("\"broker\":{\"connected\":true") } }
        // Wait until the messages that are published once have been sent.
        Thread.sleep(forTimeInterval: 5)
        let without = try plain.map { try $0.anonymous }.sorted()[Self.plugs / 2]
        let with = try connected.map { try $0.anonymous }.sorted()[Self.plugs / 2]
        return [
            Figure(
                "plugd at a broker, additional anonymous memory", (with - without) / 1000, "MB", .atMost(0.7)),
            Figure("the same, total", with / 1000, "MB"),
        ]
    }
}
