/// One file of the repository: its path from the package's folder, and its text.
struct SourceFile {
    let path: String
    let text: String
    let lineCount: Int
    /// The parsed Swift source; empty for other files.
    let swift: SwiftText

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lineCount = text.split(separator: "\n", omittingEmptySubsequences: false).count - (text.hasSuffix("\n") ? 1 : 0)
        swift = SwiftText(path.hasSuffix(".swift") ? text : "")
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    /// True for the output of protoc-gen-swift, whose imports this project does not control.
    var isGenerated: Bool { path.hasSuffix(".pb.swift") }

    /// Returns whether the file is in `folder` or in a folder below it.
    func stands(in folder: String) -> Bool { path.hasPrefix(folder + "/") }
}

/// A violation of a rule. Its description has the format of a compiler error, which editors can open.
struct Violation: CustomStringConvertible, Equatable {
    var path: String
    var line: Int
    var reason: String

    var description: String { "\(path):\(line): \(reason)" }
}
