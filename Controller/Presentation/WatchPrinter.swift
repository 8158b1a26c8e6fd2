public import PlugClient

/// Prints the reports of all plugs sequentially, so that each line's cursor covers all previous lines.
public actor WatchPrinter {
    private var lines: WatchLines
    private let write: @Sendable (WatchRecord) -> Bool

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - lines: converts the reports.
    ///   - write: prints a line; returns false if the reader has closed the output.
    public init(_ lines: WatchLines, _ write: @escaping @Sendable (WatchRecord) -> Bool) {
        self.lines = lines
        self.write = write
    }

    /// Prints a report. Returns false if the reader has closed the output.
    public func print(_ report: PlugReport) -> Bool { lines.records(of: report).allSatisfy(write) }
}
