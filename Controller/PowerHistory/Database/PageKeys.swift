import DurableFiles
import Foundation

/// Finds keys in the pages of a damaged database without following its trees.
///
/// A table without row numbers is read by its key in both directions up to the damage. Rows between two damaged pages
/// are then found only by a search for their keys, which the undamaged pages of the table still contain. A key from a
/// page may be obsolete or wrong, so it is used only for such a search.
struct PageKeys {
    /// The first values of a row: as many integers as the table's key begins with.
    typealias Key = [Int64]

    /// The columns of the table in the order of its key: i for an integer, t for a text, b for a blob.
    let columns: String
    /// The number of integers that the key begins with.
    let count: Int

    /// Passes the key of each row of the table to `body`, as far as pages of the database or of its log contain these
    /// rows.
    ///
    /// - Parameter path: The database.
    func scan(_ path: String, _ body: (Key) throws -> Void) throws {
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
                for key in keys(in: Array(page)) { try body(key) }
                offset += header + pageSize
            }
        }
    }

    /// Returns the keys in a page of an index or of a table without row numbers; no keys for other pages
    /// (https://www.sqlite.org/fileformat.html, section 1.6).
    func keys(in page: [UInt8]) -> [Key] {
        let isInterior = page.first == 0x02
        guard isInterior || page.first == 0x0A, page.count == Schema.pageSize else { return [] }
        let header = isInterior ? 12 : 8
        let cells = Int(page[3]) << 8 | Int(page[4])
        guard header + 2 * cells <= page.count else { return [] }
        return (0..<cells).compactMap { cell in
            let place = header + 2 * cell
            let start = Int(page[place]) << 8 | Int(page[place + 1])
            return key(in: page, at: isInterior ? start + 4 : start)
        }
    }

    /// Decodes the beginning of a record (section 2.1 of the file format).
    private func key(in page: [UInt8], at start: Int) -> Key? {
        var position = start
        guard Self.varint(page, &position) != nil else { return nil }
        let headerStart = position
        guard let headerLength = Self.varint(page, &position), headerLength < 100 else { return nil }
        let end = headerStart + Int(headerLength)
        var types: [UInt64] = []
        while position < end {
            guard let type = Self.varint(page, &position) else { return nil }
            types.append(type)
        }
        guard position == end, String(types.map(Self.letter)) == columns else { return nil }
        var key: Key = []
        for type in types.prefix(count) {
            guard let length = Self.integerLengths[safely: Int(clamping: type)], position + length <= page.count
            else { return nil }
            guard length > 0 else {
                key.append(type == 9 ? 1 : 0)
                continue
            }
            let isNegative = page[position] >= 0x80
            key.append(page[position..<position + length].reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
            position += length
        }
        return key
    }

    /// The number of bytes of an integer by its serial type. Types 8 and 9 are the constants 0 and 1.
    private static let integerLengths = [0, 1, 2, 3, 4, 6, 8, 0, 0, 0]

    private static func letter(_ type: UInt64) -> Character {
        switch type {
        case 1...6, 8, 9: "i"
        case 12...: type % 2 == 0 ? "b" : "t"
        case _: "?"
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
