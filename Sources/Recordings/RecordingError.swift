/// The reason why a file is not a recording: the line, its content and the expected content. Callers prefix the file's
/// name.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line number, counted from 1; nil if the error concerns the whole file.
    public var line: Int?
    /// The content of the line, or its description.
    public var found: String
    /// The expected content.
    public var expected: String
    /// True if the lines after this one cannot be read either.
    var endsFile = false

    init(line: Int? = nil, found: String, expected: String) {
        self.line = line
        self.found = found
        self.expected = expected
    }

    /// Quotes the beginning of the content, without control characters that could affect a terminal.
    init(line: Int, quoting bytes: some Collection<UInt8>, expected: String) {
        let shown = String(decoding: bytes.prefix(40).map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
        self.init(line: line, found: "\"\(shown)\(bytes.count > 40 ? "..." : "")\"", expected: expected)
    }

    public var description: String {
        "\(line.map { "line \($0): " } ?? "")found \(found), expected \(expected)"
    }
}
