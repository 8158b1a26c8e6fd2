import GRDB

/// Reads as many rows as possible of a table that has row numbers, when its pages or its indexes are damaged.
///
/// The row numbers come from a scan of the table from both ends up to the damage, from its indexes, and, if no index is
/// completely readable, from a search for each next number. A changed key in an interior page puts the tree out of
/// order, and a page that the tree reaches twice shows its rows twice. For this reason no pass relies on ascending
/// numbers to end: a scan has a limit of rows, and the search moves only to greater numbers.
struct DamagedTable {
    /// An index and its columns, separated by commas.
    struct Index {
        var name: String
        var columns: String
    }

    /// The rows that could not be read.
    struct Result {
        /// The number of lost rows, as far as they can be counted.
        var lost: Int
        /// True if the scan of the table met damage.
        var isDamaged: Bool
    }

    let database: Database
    let name: String
    var indexes: [Index] = []

    /// The number of consecutive damaged row numbers after which the search ends. One damaged interior page of the tree
    /// hides fewer rows.
    private static let patience: Int64 = 50_000
    /// The greatest plausible distance of two consecutive row numbers. The recorder numbers rows consecutively, so a
    /// greater distance means that the number is damaged.
    private static let longestLeap: Int64 = 1 << 32
    /// The maximum number of cells of a page. A scan that returns more rows than all pages can hold runs in a loop.
    private static let mostRowsOfPage: Int64 = 1024

    private struct EndlessScan: Error {}

    /// Reads each row once, in ascending order of numbers, and then the rows that a search by number does not find.
    ///
    /// - Parameters:
    ///   - columns: Separated by commas. The row's number follows them as the last column.
    ///   - progress: Receives the number of processed rows and the number of all rows.
    ///   - accept: Handles a row. It returns false if the row's content is damaged; another copy of the row may follow.
    func read(
        _ columns: String, progress: (_ done: Int, _ of: Int) throws -> Void = { _, _ in },
        _ accept: (SQLRow) throws -> Bool
    ) throws -> Result {
        var numbers = try numbers()
        var pending: Set<Int64> = []
        for (index, number) in numbers.found.enumerated() {
            var isSound = false
            try ignoringDamage {
                try database.query("SELECT \(columns), rowid FROM \(name) WHERE rowid = ?", .integer(number)) { row in
                    if !isSound { isSound = try accept(row) }
                }
            }
            if !isSound { pending.insert(number) }
            try progress(index + 1, numbers.found.count)
        }
        for order in ["ASC", "DESC"] where !pending.isEmpty {
            _ = try scan("SELECT \(columns), rowid FROM \(name) NOT INDEXED ORDER BY rowid \(order)") { row in
                let number = row.integer(row.columns - 1)
                if pending.contains(number), try accept(row) { pending.remove(number) }
            }
        }
        numbers.skipped = max(numbers.skipped, Int64(pending.count))
        return Result(lost: Int(clamping: numbers.skipped), isDamaged: numbers.isDamaged)
    }

    private struct Numbers {
        var found: [Int64] = []
        var isDamaged = false
        /// The number of rows that no pass found.
        var skipped: Int64 = 0
    }

    private func numbers() throws -> Numbers {
        var found: Set<Int64> = []
        func add(_ row: SQLRow) { found.insert(row.integer(row.columns - 1)) }
        var numbers = Numbers()
        if try !scan("SELECT rowid FROM \(name) NOT INDEXED ORDER BY rowid ASC", add) {
            numbers.isDamaged = true
            _ = try scan("SELECT rowid FROM \(name) NOT INDEXED ORDER BY rowid DESC", add)
            var isIndexed = false
            for index in indexes where try has(index) {
                let columns = index.columns.split(separator: ",")
                let keys = "SELECT \(index.columns), rowid FROM \(name) INDEXED BY \(index.name) ORDER BY "
                if try scan(keys + index.columns, add) {
                    isIndexed = true
                } else {
                    _ = try scan(keys + columns.map { $0 + " DESC" }.joined(separator: ","), add)
                }
            }
            if !isIndexed { numbers.skipped = try search(&found) }
        }
        numbers.found = found.sorted()
        return numbers
    }

    /// Searches for the next row number until the end of the table.
    ///
    /// - Returns: The number of row numbers that led to damage. Some may never have been rows.
    private func search(_ found: inout Set<Int64>) throws -> Int64 {
        var (next, tries, skipped) = (Int64(1), Int64(0), Int64(0))
        while next < .max, tries < Self.patience {
            var number: Int64?
            let isSound = try ignoringDamage {
                number = try database.integer("SELECT min(rowid) FROM \(name) WHERE rowid >= ?", .integer(next))
            }
            if isSound, number == nil { return skipped }
            // A tree that is out of order may lead back to a smaller number.
            if let number, number >= next, number - next <= Self.longestLeap {
                found.insert(number)
                skipped += tries
                (next, tries) = (number.addingClamped(1), 0)
            } else {
                if found.contains(next) { tries = 0 } else { tries += 1 }
                next += 1
            }
        }
        // The number of rows in a damaged end is unknown, so at least one is reported.
        return max(1, skipped)
    }

    func has(_ index: Index) throws -> Bool {
        var isThere = false
        try ignoringDamage {
            isThere =
                try database.integer(
                    "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?", .text(index.name)) != nil
        }
        return isThere
    }

    /// - Returns: True if the scan reached the end of the table.
    func scan(_ sql: String, values: [SQLValue] = [], _ row: (SQLRow) throws -> Void) throws -> Bool {
        var limit = (try? database.integer("PRAGMA page_count")) ?? nil
        limit = (limit ?? 1).multipliedClamped(by: Self.mostRowsOfPage)
        var seen: Int64 = 0
        do {
            return try ignoringDamage {
                try database.query(sql, all: values) { found in
                    seen += 1
                    guard seen <= limit ?? 0 else { throw EndlessScan() }
                    try row(found)
                }
            }
        } catch is EndlessScan {
            return false
        }
    }

    /// - Returns: True if the body met no damage.
    @discardableResult
    private func ignoringDamage(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch let error as DatabaseError where error.isDamage {
            return false
        }
    }
}

extension Int64 {
    func multipliedClamped(by factor: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
