import CProcesses
internal import Glibc
public import LinuxSystem

/// Starts a program as the leader of a new session, with default signal handlers and only the three standard
/// descriptors.
public struct ProcessStart {
    private let words: [String]
    private let path: String?
    private let environment: [String]

    /// Describes a start.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments, without zero bytes.
    ///   - path: the file of the program; nil to search the first word in PATH.
    ///   - environment: its variables, as `NAME=VALUE`.
    public init(_ words: [String], at path: String?, environment: [String] = []) {
        (self.words, self.path, self.environment) = (words, path, environment)
    }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - input: the descriptor that becomes standard input.
    ///   - output: the descriptor that becomes standard output.
    ///   - error: the descriptor that becomes standard error; nil to discard it.
    ///   - fence: a descriptor of Landlock, which restricts the program; nil for no restrictions.
    /// - Returns: the process id. The caller waits for the process.
    public func callAsFunction(
        input: CInt, output: CInt, error: CInt? = nil, fence: CInt? = nil
    ) throws(SystemError) -> Int32 {
        var number: Int32 = 0
        let status = withStrings(words) { words in
            withStrings(environment) { environment in
                withString(path) { path in
                    var plan = process_plan(
                        program: path, words: words, environment: environment, input: input, output: output,
                        error: error ?? -1, fence: fence ?? -1)
                    return process_start(&plan, &number)
                }
            }
        }
        try SystemError.check(status)
        return number
    }
}

/// Calls the body with the texts as a C array of strings with a final null.
private func withStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return (pointers + [nil]).withUnsafeBufferPointer { body($0.baseAddress!) }
}

private func withString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString { body($0) }
}

/// Two connected sockets, close-on-exec: one for this process, non-blocking, and one for a program.
public struct SocketPair {
    /// The end of this process.
    public let ours: CInt
    /// The end of the program.
    public let theirs: CInt

    /// Opens the sockets. The caller closes both.
    public init() throws(SystemError) {
        var (ours, theirs): (CInt, CInt) = (-1, -1)
        guard process_socket_pair(&ours, &theirs) == 0 else { throw SystemError(errno) }
        (self.ours, self.theirs) = (ours, theirs)
    }
}
