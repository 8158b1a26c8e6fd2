import Presentation
import Terminal

/// Standard output, a line at a time, each written at once so that a pipe sees it when it happens.
enum Output {
    /// False when nobody reads any more.
    @discardableResult
    static func line(_ text: String) -> Bool {
        TerminalDevice.standardOutput.write(Array((text + "\n").utf8)) != .closed
    }

    /// Text that may hold what a plug calls itself: control characters are taken out.
    @discardableResult
    static func safeLine(_ text: String) -> Bool { line(safeText(text)) }

    @discardableResult
    static func json(_ record: some Encodable) -> Bool { line(jsonLine(record)) }
}

/// Says on standard error what went wrong; `hint:` lines stay lines of their own.
func complain(_ text: String) {
    let lines = text.split(separator: "\n").map { safeText(String($0)) }
    TerminalDevice.standardError.write(Array(("plugctl: " + lines.joined(separator: "\n") + "\n").utf8))
}
