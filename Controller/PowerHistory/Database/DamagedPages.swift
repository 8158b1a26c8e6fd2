import Foundation
import GRDB
import LinuxSystem

/// Copies a damaged database and repairs the copy so that SQLite opens it: afterwards the header is valid, and the file
/// has as many pages as its header states.
///
/// SQLite refuses a complete file if its first 100 bytes are wrong, or if it has fewer pages than its header states
/// (https://www.sqlite.org/fileformat.html, section 1.3). This type corrects both and adds empty pages for the missing
/// ones, so that only the content of those pages is lost. If the first page is damaged beyond its header, the first
/// page of a new history replaces it. The first page contains the number of each table's root page, and these numbers
/// are equal in all histories, because the tables are always created in the same order.
struct DamagedPages {
    /// The paths of the damaged file and of the copy.
    private let path: String
    private let copy: String
    /// The first page of an undamaged history.
    private let template: Data

    private static let headerLength = 100
    /// Offsets in the header: the file change counter, the number of pages, the first free page, and the change counter
    /// at which the number of pages was valid.
    private static let (changes, pages, freePages, changesOfPages) = (24, 28, 32, 92)
    private static let pieceLength = 65_536
    /// The maximum number of missing pages that are added. If more pages are missing according to the header, its
    /// number of pages is ignored, because the header itself may be damaged.
    private static let mostMissing = 1 << 16

    /// Returns true if the file has the header of a history, so that SQLite can read its pages. Returns false for an
    /// empty file, because SQLite would delete the log next to an empty file, with all data in that log.
    static func hasSoundHeader(_ path: String) throws -> Bool {
        try HistoryFiles.checkKind(path)
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        guard let header = try file.read(upToCount: headerLength), !header.isEmpty else { return false }
        // Offset 0: magic. 16: page size. 20: reserved bytes per page, and three payload fractions.
        let size = UInt16(Schema.pageSize)
        let known: [(offset: Int, bytes: [UInt8])] = [
            (0, Array("SQLite format 3\0".utf8)), (16, [UInt8(size >> 8), UInt8(size & 0xFF)]), (20, [0, 64, 32, 32]),
        ]
        // Schema format and text encoding: both are zero while the complete database is still in the log.
        let later: [(offset: Int, bytes: [UInt8])] = [(44, [0, 0, 0, 4]), (56, [0, 0, 0, 1])]
        func holds(_ offset: Int, _ bytes: [UInt8]) -> Bool { header.dropFirst(offset).starts(with: bytes) }
        return header.count == headerLength && known.allSatisfy { holds($0.offset, $0.bytes) }
            && later.allSatisfy { holds($0.offset, $0.bytes) || holds($0.offset, [0, 0, 0, 0]) }
    }

    /// Prepares the repair.
    ///
    /// - Parameters:
    ///   - copy: The path of the copy.
    ///   - whole: An undamaged history that no process is writing.
    init(_ path: String, copy: String, whole: PowerHistory) throws {
        (self.path, self.copy) = (path, copy)
        try whole.queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let file = try FileHandle(forReadingFrom: URL(filePath: whole.path))
        defer { try? file.close() }
        template = try file.read(upToCount: Schema.pageSize) ?? Data()
    }

    /// Creates the copy and opens it.
    ///
    /// - Throws: ``HistoryError`` if the tables are not readable.
    func queue() throws(HistoryError) -> DatabaseQueue {
        do {
            try removeCopy()
            for suffix in ["", "-wal"] where DatabaseOpener.isThere(path + suffix) { try copyFile(suffix) }
            try mendHeader(withSchema: false)
            if let queue = try? readable() { return queue }
            try mendHeader(withSchema: true)
            return try readable()
        } catch {
            throw HistoryError(any: error, path)
        }
    }

    /// Removes the copy and its log.
    func removeCopy() throws(FileError) {
        for suffix in ["", "-wal", "-shm"] { try FileStore().removeIfPresent(copy + suffix) }
    }

    /// Copies the file in pieces and skips holes, so that a sparse file stays sparse.
    private func copyFile(_ suffix: String) throws {
        try HistoryFiles.checkKind(path + suffix)
        try FileStore().makeFileIfAbsent(copy + suffix, mode: 0o600)
        let source = try FileHandle(forReadingFrom: URL(filePath: path + suffix))
        defer { try? source.close() }
        let target = try FileHandle(forUpdating: URL(filePath: copy + suffix))
        defer { try? target.close() }
        // The length is fixed now, because another process may still be writing.
        let length = try source.seekToEnd()
        try source.seek(toOffset: 0)
        var offset: UInt64 = 0
        while offset < length {
            // Holes are not copied.
            offset = min(length, SparseFile.nextData(in: source.fileDescriptor, from: offset) ?? length)
            if offset == length { break }
            try source.seek(toOffset: offset)
            let piece = try source.read(upToCount: Int(min(length - offset, UInt64(Self.pieceLength)))) ?? Data()
            if piece.isEmpty { break }
            try target.seek(toOffset: offset)
            try target.write(contentsOf: piece)
            offset += UInt64(piece.count)
        }
        try target.truncate(atOffset: offset)
    }

    private func mendHeader(withSchema: Bool) throws {
        let file = try FileHandle(forUpdating: URL(filePath: copy))
        defer { try? file.close() }
        let length = try file.seekToEnd()
        try file.seek(toOffset: 0)
        let first = try file.read(upToCount: Schema.pageSize) ?? Data()
        var page = withSchema || first.count < Schema.pageSize ? template : first
        page.replaceSubrange(..<Self.headerLength, with: template.prefix(Self.headerLength))
        // An incomplete last page counts: its missing part becomes empty.
        let there = (length + UInt64(Schema.pageSize) - 1) / UInt64(Schema.pageSize)
        let said = first.count >= Self.headerLength ? UInt64(Self.number(first, at: Self.pages)) : 0
        // SQLite refuses tables whose root page is beyond the end.
        let needed = withSchema ? UInt64(Self.number(template, at: Self.pages)) : 1
        let count = max(needed, there, said <= there + UInt64(Self.mostMissing) ? said : 0)
        Self.set(UInt32(clamping: count), in: &page, at: Self.pages)
        Self.set(1, in: &page, at: Self.changes)
        Self.set(1, in: &page, at: Self.changesOfPages)
        // The list of free pages is cleared, because an unused page costs only space.
        Self.set(0, in: &page, at: Self.freePages)
        Self.set(0, in: &page, at: Self.freePages + 4)
        try file.seek(toOffset: 0)
        try file.write(contentsOf: page)
        try file.truncate(atOffset: count * UInt64(Schema.pageSize))
    }

    private static func number(_ page: Data, at offset: Int) -> UInt32 {
        page.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func set(_ number: UInt32, in page: inout Data, at offset: Int) {
        withUnsafeBytes(of: number.bigEndian) { page.replaceSubrange(offset..<offset + 4, with: $0) }
    }

    /// Opens the copy.
    ///
    /// - Throws: `SQLITE_CORRUPT` if a table of the schema is missing.
    private func readable() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "damaged history"
        let queue = try DatabaseQueue(path: copy, configuration: configuration)
        let tables = try queue.read { database in
            try Set(String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'"))
        }
        guard tables.isSuperset(of: ["plug", "boot", "chunk", "counter", "rollup", "event", "firing"]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        return queue
    }
}
