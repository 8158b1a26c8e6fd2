/// A file that one can read in one sitting holds one thing.
enum SizeRule {
    static func check(_ tree: SourceTree) -> [Violation] {
        tree.files.compactMap { file in
            let most = file.path == "Package.swift" ? Layout.longestManifest : Layout.longestFile
            guard !file.isGenerated, file.lineCount > most else { return nil }
            return Violation(
                path: file.path, line: most, reason: "\(file.lineCount) lines; this file has at most \(most)")
        }
    }
}
