internal import Glibc

extension TerminalDevice {
    /// The limit of a line in bytes; passwords are shorter.
    private static let longestHiddenLine = 1024

    /// Reads a line without echo. The terminal's modes are restored afterwards, also if the process ends while it waits
    /// for the line.
    ///
    /// - Parameter output: the device that shows the question.
    /// - Returns: the line without its end; nil at the end of the input, if the line has 1024 bytes or more, or if this
    ///   device is not a terminal.
    public func readHiddenLine(_ question: String, on output: TerminalDevice) -> String? {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return nil }
        var hidden = modes
        hidden.c_lflag &= ~tcflag_t(ECHO)
        Restoration.prepare()
        Restoration.state.pointee.keyboardModes = modes
        Restoration.state.pointee.keyboard = descriptor
        output.write(Array(question.utf8))
        // Input from before the question is discarded.
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
