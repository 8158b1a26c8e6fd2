/// Why a file is no recording: where, what stands there and what should. Put the file's name before it.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1; nil where the file as a whole is the matter.
    public var line: Int?
    public var found: String
    public var expected: String

    init(line: Int? = nil, found: String, expected: String) {
        self.line = line
        self.found = found
        self.expected = expected
    }

    /// Shows the beginning of what stands there, without control characters that could play tricks on a terminal.
    init(line: Int, quoting bytes: some Collection<UInt8>, expected: String) {
        let shown = String(decoding: bytes.prefix(40).map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
        self.init(line: line, found: "\"\(shown)\(bytes.count > 40 ? "..." : "")\"", expected: expected)
    }

    public var description: String {
        "\(line.map { "line \($0): " } ?? "")found \(found), expected \(expected)"
    }
}
