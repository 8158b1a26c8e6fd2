public import PlugClient

/// Prints the reports of all plugs, one after the other, so that each line's cursor stands for all lines before it.
public actor WatchPrinter {
    private var lines: WatchLines
    private let write: @Sendable (WatchRecord) -> Bool

    /// - Parameter write: false when nobody reads any more.
    public init(_ lines: WatchLines, _ write: @escaping @Sendable (WatchRecord) -> Bool) {
        self.lines = lines
        self.write = write
    }

    /// False when nobody reads any more.
    public func print(_ report: PlugReport) -> Bool { lines.records(of: report).allSatisfy(write) }
}
