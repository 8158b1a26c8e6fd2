public import PlugClient

/// Prints the reports of all plugs sequentially, so that each line's cursor covers all previous lines.
public actor WatchPrinter {
    private var lines: WatchLines
    private let write: @Sendable (WatchRecord) -> Bool

    /// - Parameter write: returns false after the reader has gone.
    public init(_ lines: WatchLines, _ write: @escaping @Sendable (WatchRecord) -> Bool) {
        self.lines = lines
        self.write = write
    }

    /// Returns false after the reader has gone.
    public func print(_ report: PlugReport) -> Bool { lines.records(of: report).allSatisfy(write) }
}
