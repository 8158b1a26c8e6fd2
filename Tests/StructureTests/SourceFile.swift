/// One file of the repository: its path from the package's folder, and its text.
struct SourceFile {
    let path: String
    let text: String
    let lineCount: Int
    /// The file read as Swift; empty for other files.
    let swift: SwiftText

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lineCount = text.split(separator: "\n", omittingEmptySubsequences: false).count - (text.hasSuffix("\n") ? 1 : 0)
        swift = SwiftText(path.hasSuffix(".swift") ? text : "")
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    /// What protoc-gen-swift wrote; its size and its imports are not ours to choose.
    var isGenerated: Bool { path.hasSuffix(".pb.swift") }

    /// Whether the file stands in `folder` or below it.
    func stands(in folder: String) -> Bool { path.hasPrefix(folder + "/") }
}

/// A place that breaks a rule, written as compilers do so that editors can jump to it.
struct Violation: CustomStringConvertible, Equatable {
    var path: String
    var line: Int
    var reason: String

    var description: String { "\(path):\(line): \(reason)" }
}
