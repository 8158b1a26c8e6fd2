/// A file that one can read in one sitting holds one thing.
enum SizeRule {
    static func check(_ tree: SourceTree) -> [Violation] {
        tree.files.filter { !$0.isGenerated && $0.lineCount > Layout.longestFile }.map {
            Violation(
                path: $0.path, line: Layout.longestFile,
                reason: "\($0.lineCount) lines; a file has at most \(Layout.longestFile)")
        }
    }
}
