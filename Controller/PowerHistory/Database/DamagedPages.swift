import DurableFiles
import Foundation
import GRDB

/// A damaged database made such that SQLite opens it: a copy in which the header is right, and no page lies behind the end.
///
/// SQLite refuses a file as a whole where its first hundred bytes are wrong, or where it has fewer pages than it says
/// (https://www.sqlite.org/fileformat.html, section 1.3). Here both are made right, and what is missing becomes empty pages, so that only
/// what stood on them is lost. Where the first page is damaged beyond its header, that of a new history takes its place: it says which page
/// each table begins with, and tables are made in the same order always.
struct DamagedPages {
    /// Of the damaged file, and of the copy.
    private let path: String
    private let copy: String
    /// The first page of a history that is whole.
    private let template: Data

    private static let headerLength = 100
    /// Offsets into the header: changes of the file, pages of it, free pages, the changes when the number of pages was written.
    private static let (changes, pages, freePages, changesOfPages) = (24, 28, 32, 92)
    private static let pieceLength = 65_536
    /// Pages that a header may say are missing: it may itself be damage.
    private static let mostMissing = 1 << 16

    /// Whether the header is one of a history, so that SQLite reads its pages as they are. An empty file has none: SQLite would remove
    /// the log next to it, and with that all that the log has.
    static func hasSoundHeader(_ path: String) throws -> Bool {
        try HistoryFiles.checkKind(path)
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        guard let header = try file.read(upToCount: headerLength), !header.isEmpty else { return false }
        // Magic; size of a page; versions of writing and reading; bytes left free in each page; fractions.
        let size = UInt16(Schema.pageSize)
        let known: [(offset: Int, bytes: [UInt8])] = [
            (0, Array("SQLite format 3\0".utf8)), (16, [UInt8(size >> 8), UInt8(size & 0xFF)]), (20, [0, 64, 32, 32]),
        ]
        // Not yet said where all of it is in the log.
        let later: [(offset: Int, bytes: [UInt8])] = [(44, [0, 0, 0, 4]), (56, [0, 0, 0, 1])]
        func holds(_ offset: Int, _ bytes: [UInt8]) -> Bool { header.dropFirst(offset).starts(with: bytes) }
        return header.count == headerLength && known.allSatisfy { holds($0.offset, $0.bytes) }
            && later.allSatisfy { holds($0.offset, $0.bytes) || holds($0.offset, [0, 0, 0, 0]) }
    }

    /// - Parameter whole: a history without damage, of which nobody writes.
    init(_ path: String, copy: String, whole: PowerHistory) throws {
        (self.path, self.copy) = (path, copy)
        try whole.queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let file = try FileHandle(forReadingFrom: URL(filePath: whole.path))
        defer { try? file.close() }
        template = try file.read(upToCount: Schema.pageSize) ?? Data()
    }

    /// The copy, as far as it can be read.
    func queue() throws(HistoryError) -> DatabaseQueue {
        do {
            try removeCopy()
            for suffix in ["", "-wal"] where Opening.isThere(path + suffix) { try copyFile(suffix) }
            try mendHeader(withSchema: false)
            if let queue = try? readable() { return queue }
            try mendHeader(withSchema: true)
            return try readable()
        } catch {
            throw HistoryError(any: error, path)
        }
    }

    /// It is a file among others that nobody needs any more.
    func removeCopy() throws(FileError) {
        for suffix in ["", "-wal", "-shm"] { try FileStore().removeIfPresent(copy + suffix) }
    }

    /// Copies piece by piece and leaves out holes, so that a file with holes takes no more room than before.
    private func copyFile(_ suffix: String) throws {
        try HistoryFiles.checkKind(path + suffix)
        try FileStore().makeFileIfAbsent(copy + suffix, mode: 0o600)
        let source = try FileHandle(forReadingFrom: URL(filePath: path + suffix))
        defer { try? source.close() }
        let target = try FileHandle(forUpdating: URL(filePath: copy + suffix))
        defer { try? target.close() }
        // The length of now: another process may still write.
        let length = try source.seekToEnd()
        try source.seek(toOffset: 0)
        var offset: UInt64 = 0
        while offset < length {
            // Nothing is copied of holes.
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
        // One that is not whole counts: the rest of it is empty.
        let there = (length + UInt64(Schema.pageSize) - 1) / UInt64(Schema.pageSize)
        let said = first.count >= Self.headerLength ? UInt64(Self.number(first, at: Self.pages)) : 0
        // SQLite refuses tables that begin behind the end.
        let needed = withSchema ? UInt64(Self.number(template, at: Self.pages)) : 1
        let count = max(needed, there, said <= there + UInt64(Self.mostMissing) ? said : 0)
        Self.set(UInt32(clamping: count), in: &page, at: Self.pages)
        Self.set(1, in: &page, at: Self.changes)
        Self.set(1, in: &page, at: Self.changesOfPages)
        // Pages of which nobody knows whether they are free stay as they are.
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

    /// - Throws: where not even its tables are known.
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
