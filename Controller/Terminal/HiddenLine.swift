internal import Glibc

extension TerminalDevice {
    /// Bytes of a line; what is longer is no password.
    private static let longestHiddenLine = 1024

    /// Asks for a line that is not shown while it is typed. The terminal's modes are put right afterwards, also when the process
    /// is ended meanwhile.
    ///
    /// - Parameter output: where the question is shown.
    /// - Returns: the line without its end; nil at the end of the input, or where this is no terminal.
    public func readHiddenLine(_ question: String, on output: TerminalDevice) -> String? {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return nil }
        var hidden = modes
        hidden.c_lflag &= ~tcflag_t(ECHO)
        Restoration.prepare()
        Restoration.state.pointee.keyboardModes = modes
        Restoration.state.pointee.keyboard = descriptor
        output.write(Array(question.utf8))
        // What was typed before the question is not the answer.
        tcsetattr(descriptor, TCSAFLUSH, &hidden)
        defer {
            Restoration.state.pointee.keyboard = -1
            tcsetattr(descriptor, TCSADRAIN, &modes)
            output.write(Array("\n".utf8))
        }
        var line: [UInt8] = []
        while line.count < Self.longestHiddenLine {
            var byte: UInt8 = 0
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
