/// The progress of long work: a line on standard error that is redrawn in place. Nothing is shown if standard error is
/// not a terminal, or if TERM is `dumb` or missing.
public struct ProgressLine: ~Copyable {
    private let label: String
    private let device = TerminalDevice.standardError
    private let isShown: Bool
    private var shown = -1

    /// Creates the line. Control characters are removed from the label.
    public init(_ label: String) {
        self.label = safeText(label)
        isShown = device.capabilities.movesCursor
    }

    /// Shows the progress in percent.
    ///
    /// - Parameters:
    ///   - done: the completed part.
    ///   - total: the whole, at least 1.
    public mutating func show(_ done: Int, of total: Int) {
        let percent = done * 100 / max(1, total)
        guard isShown, percent != shown else { return }
        shown = percent
        device.write(Array("\r\u{1B}[K\(label): \(percent) %".utf8))
    }

    /// Clears the line for the next output.
    public mutating func clear() {
        if isShown, shown >= 0 { device.write(Array("\r\u{1B}[K".utf8)) }
        shown = -1
    }
}
