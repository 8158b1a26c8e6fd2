/// One file of the repository: its path from the package's folder, and its text.
struct SourceFile {
    var path: String
    var text: String

    var fileName: String { path.split(separator: "/").last.map(String.init) ?? path }
    var isSwift: Bool { path.hasSuffix(".swift") }
    /// What protoc-gen-swift wrote; its size and its imports are not ours to choose.
    var isGenerated: Bool { path.hasSuffix(".pb.swift") }
    var lineCount: Int {
        text.split(separator: "\n", omittingEmptySubsequences: false).count - (text.hasSuffix("\n") ? 1 : 0)
    }

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
