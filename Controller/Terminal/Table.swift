/// A table of rows and aligned columns that fits a width. The layout uses no terminal, so that pipes, narrow terminals
/// and tests share the same code.
public struct Table: Hashable, Sendable {
    /// A column and its layout.
    public struct Column: Hashable, Sendable {
        /// The title in the first line.
        public var title: String
        /// The alignment of the cells.
        public var alignment: Alignment
        /// The minimum width of the column, or its content's width if that is smaller.
        public var least: Int
        /// The importance of the column. If space is short, the least important columns are cut first, and then omitted
        /// first.
        public var importance: Int

        /// Creates a column.
        public init(_ title: String, _ alignment: Alignment = .left, least: Int = 4, importance: Int = 0) {
            self.title = title
            self.alignment = alignment
            self.least = least
            self.importance = importance
        }
    }

    /// The number of spaces between two cells.
    private static let space = 2

    /// The columns from left to right.
    public var columns: [Column]
    /// The rows. Missing cells are empty; excess cells are not shown.
    public var rows: [[StyledLine]]
    /// True if the first line shows the titles.
    public var hasTitles: Bool

    /// Creates a table.
    public init(_ columns: [Column], rows: [[StyledLine]] = [], hasTitles: Bool = true) {
        self.columns = columns
        self.rows = rows
        self.hasTitles = hasTitles
    }

    /// Returns the lines of the table. Cells of a left-aligned last column are not padded.
    ///
    /// - Parameters:
    ///   - width: the limit of display columns; nil for no limit.
    ///   - ellipsis: marks truncated cells.
    public func lines(width: Int? = nil, ellipsis: Character = "…") -> [StyledLine] {
        let shown = layout(width: width)
        let titles = hasTitles ? [columns.map { StyledLine($0.title, Style(bold: true)) }] : []
        return (titles + rows).map { row in
            var line = StyledLine()
            for (position, (index, width)) in shown.enumerated() {
                let cell = index < row.count ? row[index] : StyledLine()
                if position > 0 { line.append(String(repeating: " ", count: Table.space)) }
                let isLast = position == shown.count - 1 && columns[index].alignment == .left
                line.append(
                    isLast
                        ? cell.truncated(to: width, ellipsis: ellipsis)
                        : cell.fitted(to: width, columns[index].alignment, ellipsis: ellipsis))
            }
            return line
        }
    }

    /// Returns the visible columns with their widths.
    private func layout(width: Int?) -> [(index: Int, width: Int)] {
        var shown = columns.indices.map { index in
            let cells = rows.map { index < $0.count ? $0[index].width : 0 }
            let title = hasTitles ? DisplayWidth.of(columns[index].title) : 0
            return (index: index, width: max(title, cells.max() ?? 0))
        }
        guard let width else { return shown }
        var surplus: Int { shown.reduce((shown.count - 1) * Table.space) { $0 + $1.width } - width }
        while surplus > 0 {
            // If several columns are equally important, the widest is cut, so that all remain readable.
            let cuttable = shown.indices.filter { shown[$0].width > columns[shown[$0].index].least }
            let victim = cuttable.min {
                let (left, right) = (columns[shown[$0].index], columns[shown[$1].index])
                return (left.importance, -shown[$0].width) < (right.importance, -shown[$1].width)
            }
            if let victim {
                shown[victim].width -= 1
            } else if shown.count > 1 {
                let least = shown.indices.reversed().min {
                    columns[shown[$0].index].importance < columns[shown[$1].index].importance
                }
                shown.remove(at: least ?? shown.count - 1)
            } else {
                shown[0].width = max(0, width)
            }
        }
        return shown
    }
}
