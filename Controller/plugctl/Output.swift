import DurableFiles
import Presentation
import Synchronization
import Terminal

/// Standard output, a line at a time, each written at once so that a pipe sees it when it happens.
enum Output {
    /// Whether something could not be written: then the program fails, whatever else it does.
    static var hasFailed: Bool { failed.load(ordering: .relaxed) }
    private static let failed = Atomic(false)

    /// False when nobody reads any more, or when it cannot be written.
    @discardableResult
    static func line(_ text: String) -> Bool {
        goesOn(TerminalDevice.standardOutput.write(Array((text + "\n").utf8)))
    }

    static func line(_ line: StyledLine, _ capabilities: Capabilities) -> Bool {
        goesOn(TerminalDevice.standardOutput.print(line, colors: capabilities.colors))
    }

    private static func goesOn(_ result: WriteResult) -> Bool {
        switch result {
        case .written: return true
        case .closed: return false
        case .failed(let code):
            guard !failed.exchange(true, ordering: .relaxed) else { return false }
            complain("\(FileError(.write, "standard output", .system(SystemError(code))))")
            return false
        }
    }

    /// Text that may hold what a plug calls itself: control characters are taken out.
    @discardableResult
    static func safeLine(_ text: String) -> Bool { line(safeText(text)) }

    @discardableResult
    static func json(_ record: some Encodable) -> Bool { line(jsonLine(record)) }
}

/// Says on standard error what went wrong; `hint:` lines stay lines of their own.
func complain(_ text: String) { sayOnStandardError("plugctl: " + text) }

/// The same of what begins with the file that it is about, as editors look for it.
func complainOfFile(_ text: String) { sayOnStandardError(text) }

private func sayOnStandardError(_ text: String) {
    let lines = text.split(separator: "\n").map { safeText(String($0)) }
    TerminalDevice.standardError.write(Array((lines.joined(separator: "\n") + "\n").utf8))
}
