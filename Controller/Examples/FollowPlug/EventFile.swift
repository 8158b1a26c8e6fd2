import LinuxSystem
import PlugClient
import PlugModel

/// A file of text lines that begin with an event's number.
struct EventFile {
    /// The maximum size of the file in bytes. Prevents a file of a different program from filling the memory.
    private static let limit = 1 << 26

    /// The position at which the events resume.
    let cursor: Cursor
    private let file: AppendingFile

    init(_ path: String) throws(FileError) {
        let bytes = try FileStore().readIfPresent(path, limit: Self.limit) ?? []
        // An incomplete last line is removed: the power may have failed during its write.
        let whole = bytes[..<(bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)]
        file = try AppendingFile(path)
        if whole.count < file.length { try file.truncate(to: whole.count) }
        let number = whole.split(separator: UInt8(ascii: "\n")).last?.prefix { $0 != UInt8(ascii: " ") }
        let last = number.flatMap { SequenceNumber(String(decoding: $0, as: UTF8.self)) }
        cursor = last.map { .after($0) } ?? .now
    }

    func append(_ sequence: SequenceNumber, _ text: String) throws(FileError) {
        try file.append(Array("\(sequence) \(text)\n".utf8))
    }
}
