import Foundation
import LinuxSystem

/// Finds records of one table in the pages of a damaged database without following its trees.
///
/// A page does not state its table, and its records may be obsolete. A record is recognized by the types of its
/// columns, so its values may still be wrong: they serve to search for rows, or to replace rows that are lost.
struct PageRecords {
    /// The pages of a table with row numbers, or those of an index or of a table without row numbers.
    enum Kind { case rows, keys }

    /// A record.
    struct Record {
        /// The number of the row; nil for ``Kind/keys``.
        var row: Int64?
        /// The values of the first columns.
        var values: [SQLValue]
    }

    let kind: Kind
    /// The type of each column, in the order of the record: i for an integer, n for NULL, ? for an integer or NULL,
    /// t for a text, b for a blob. SQLite stores NULL for a column that is the row number.
    let columns: String
    /// The number of columns that are decoded.
    let count: Int

    /// Passes each record that is in a page of the database or of its log to `body`.
    ///
    /// - Parameter path: The database.
    func scan(_ path: String, _ body: (Record) throws -> Void) throws {
        let pageSize = UInt64(Schema.pageSize)
        // The log begins with a header of 32 bytes, and each page in the log follows a header of 24 bytes.
        for (suffix, start, header) in [("", 0, 0), ("-wal", 32, 24)] as [(String, UInt64, UInt64)] {
            guard DatabaseOpener.isThere(path + suffix) else { continue }
            try HistoryFiles.checkKind(path + suffix)
            let file = try FileHandle(forReadingFrom: URL(filePath: path + suffix))
            defer { try? file.close() }
            let length = try file.seekToEnd()
            var offset = start
            while offset < length {
                guard let data = SparseFile.nextData(in: file.fileDescriptor, from: offset) else { break }
                offset += (data - offset) / (header + pageSize) * (header + pageSize)
                try file.seek(toOffset: offset + header)
                guard let page = try file.read(upToCount: Schema.pageSize), page.count == Schema.pageSize else { break }
                for record in records(in: Array(page)) { try body(record) }
                offset += header + pageSize
            }
        }
    }

    /// Returns the records in a page; none if the page is of another kind
    /// (https://www.sqlite.org/fileformat.html, section 1.6).
    func records(in page: [UInt8]) -> [Record] {
        guard let type = page.first, page.count == Schema.pageSize else { return [] }
        let isInterior = type == 0x02
        guard kind == .rows ? type == 0x0D : isInterior || type == 0x0A else { return [] }
        let header = isInterior ? 12 : 8
        let cells = Int(page[3]) << 8 | Int(page[4])
        guard header + 2 * cells <= page.count else { return [] }
        return (0..<cells).compactMap { cell in
            let place = header + 2 * cell
            let start = Int(page[place]) << 8 | Int(page[place + 1])
            return record(in: page, at: isInterior ? start + 4 : start)
        }
    }

    /// Decodes the beginning of a record (section 2.1 of the file format).
    private func record(in page: [UInt8], at start: Int) -> Record? {
        var position = start
        guard Self.varint(page, &position) != nil else { return nil }
        var row: Int64?
        if kind == .rows {
            guard let number = Self.varint(page, &position) else { return nil }
            row = Int64(bitPattern: number)
        }
        let headerStart = position
        guard let headerLength = Self.varint(page, &position), headerLength < 100 else { return nil }
        let end = headerStart + Int(headerLength)
        var types: [UInt64] = []
        while position < end {
            guard let type = Self.varint(page, &position) else { return nil }
            types.append(type)
        }
        guard position == end, types.count == columns.count, zip(types, columns).allSatisfy(Self.matches) else {
            return nil
        }
        var values: [SQLValue] = []
        for type in types.prefix(count) {
            guard let value = Self.value(type, page, &position) else { return nil }
            values.append(value)
        }
        return Record(row: row, values: values)
    }

    private static func matches(_ type: UInt64, _ column: Character) -> Bool {
        switch type {
        case 0: column == "n" || column == "?"
        case 1...6, 8, 9: column == "i" || column == "?"
        case 12...: column == (type % 2 == 0 ? "b" : "t")
        case _: false
        }
    }

    /// Returns nil if the value is not completely in the page.
    private static func value(_ type: UInt64, _ page: [UInt8], _ position: inout Int) -> SQLValue? {
        // Types 8 and 9 are the constants 0 and 1. From 12 on, even types are blobs and odd types are texts: the type
        // is twice the length, plus 12 or 13.
        let lengths = [0, 1, 2, 3, 4, 6, 8, 0, 0, 0]
        let length = type < 12 ? lengths[safely: Int(type)] : Int(clamping: (type - 12) / 2)
        guard let length, length <= page.count - position else { return nil }
        let bytes = page[position..<position + length]
        position += length
        switch type {
        case 0: return .null
        case 8, 9: return .integer(Int64(type) - 8)
        case 1...6:
            let isNegative = bytes.first.map { $0 >= 0x80 } ?? false
            return .integer(bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
        case _: return type % 2 == 0 ? .bytes(Array(bytes)) : .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Returns nil beyond the end of the page, and for more than nine bytes.
    private static func varint(_ page: [UInt8], _ position: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard position < page.count else { return nil }
            let byte = page[position]
            position += 1
            if index == 8 { return value << 8 | UInt64(byte) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        return nil
    }
}

extension [Int] {
    fileprivate subscript(safely index: Int) -> Int? { indices.contains(index) ? self[index] : nil }
}
