import Foundation
import LinuxSystem
import Synchronization

/// A small JSON file of the daemon. No other process changes it while the daemon runs.
final class JSONFile<Content: Codable & Equatable & Sendable>: Sendable {
    /// The maximum size of the file in bytes: 1,280 plugs with the longest names of rooms.
    private static var limit: Int { 262_144 }

    private let path: String
    private let empty: Content
    private let files = FileStore()
    /// The content of the file; nil before it was read.
    private let content = Mutex<Content?>(nil)

    /// Refers to a file. Nothing is read yet.
    ///
    /// - Parameter empty: the content of a missing file.
    init(_ path: String, empty: Content) { (self.path, self.empty) = (path, empty) }

    /// Returns the content.
    ///
    /// - Throws: `FileError`, or `DecodingError` if the file is damaged.
    func read() throws -> Content { try content.withLock { try load(&$0) } }

    /// Changes the content, and replaces the file if the content differs.
    ///
    /// - Throws: see ``read()``; `Fault` if the file would be too large. The content then stays as it was.
    /// - Returns: the result of the change.
    func change<Answer: Sendable>(_ work: (inout Content) -> Answer) throws -> Answer {
        try content.withLock { known in
            let before = try load(&known)
            var changed = before
            let answer = work(&changed)
            guard changed != before else { return answer }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let bytes = try Array(encoder.encode(changed))
            guard bytes.count <= Self.limit else {
                throw Fault.outOfRange("the file \(path) would be larger than \(Self.limit) bytes")
            }
            try files.makeDirectories(parentDirectory(of: path))
            try files.replace(path, with: bytes)
            known = changed
            return answer
        }
    }

    private func load(_ known: inout Content?) throws -> Content {
        if let known { return known }
        let bytes = try files.readIfPresent(path, limit: Self.limit)
        let content = try bytes.map { try JSONDecoder().decode(Content.self, from: Data($0)) } ?? empty
        known = content
        return content
    }
}
