import LinuxSystem
import Presentation
import Synchronization
import Terminal

/// Standard output. Each line is written at once, so that a reader of a pipe receives it immediately.
enum Output {
    /// True if a write has failed. The program then exits with an error.
    static var hasFailed: Bool { failed.load(ordering: .relaxed) }
    private static let failed = Atomic(false)

    /// Returns false if the reader has closed the pipe or if the write fails.
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
            printError("\(FileError(.write, "standard output", .system(SystemError(code))))")
            return false
        }
    }

    /// Writes text that may contain the name of a plug. Control characters are removed.
    @discardableResult
    static func safeLine(_ text: String) -> Bool { line(safeText(text)) }

    @discardableResult
    static func json(_ record: some Encodable) -> Bool { line(jsonLine(record)) }
}

/// Prints an error to standard error. `hint:` lines stay separate lines.
func printError(_ text: String) { sayOnStandardError("plugctl: " + text) }

/// Prints an error that begins with the path of a file, in the form that editors parse.
func complainOfFile(_ text: String) { sayOnStandardError(text) }

private func sayOnStandardError(_ text: String) {
    let lines = text.split(separator: "\n").map { safeText(String($0)) }
    TerminalDevice.standardError.write(Array((lines.joined(separator: "\n") + "\n").utf8))
}
