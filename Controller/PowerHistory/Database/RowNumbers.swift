import GRDB

/// The numbers of a table's rows, in order, where it can be read.
struct RowNumbers {
    private(set) var readable: [Int64] = []
    /// Numbers that stand on damaged pages; not all of them need have been rows.
    private(set) var skipped: Int64 = 0

    /// So many damaged numbers in a row are the end: a page of the tree above the rows leads to fewer.
    private static let patience: Int64 = 50_000
    /// A number that is further than this from the one before is itself damage: rows are numbered as they come.
    private static let longestLeap: Int64 = 1 << 32

    /// - Parameter index: one of the table's, which may know the last number where the table itself does not.
    init(_ database: Database, of table: String, index: String? = nil) throws {
        var (next, tries) = (Int64(1), Int64(0))
        while next < .max, tries < Self.patience {
            do {
                guard let id = try database.integer("SELECT min(rowid) FROM \(table) WHERE rowid >= ?", .integer(next))
                else { return }
                guard id - next <= Self.longestLeap else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                readable.append(id)
                skipped += tries
                (next, tries) = (id.addingClamped(1), 0)
            } catch let error as DatabaseError where error.isDamage {
                (next, tries) = (next + 1, tries + 1)
            }
        }
        // Nobody knows how many there were at a damaged end, unless an index does.
        let last = index.flatMap { index in
            try? database.integer("SELECT max(rowid) FROM (SELECT rowid FROM \(table) INDEXED BY \(index))")
        }
        skipped += max(1, min(tries, (last ?? 0).subtractingClamped(next - tries - 1)))
    }
}
