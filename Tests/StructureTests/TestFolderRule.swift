/// Checks that tests create temporary folders only with `TestFolder`, which removes them.
enum TestFolderRule {
    /// The folders that the rule skips: the helper, the benchmarks, and this rule with its tests.
    private static let exempt = [
        "Tests/Support/TestSupport/TestFolder.swift", "Tests/Benchmarks", "Tests/StructureTests",
    ]
    /// Functions, variables and paths of temporary files. String literals are searched too, because they contain paths.
    private static let others = [
        "mkdtemp", "mkstemp", "tmpnam", "tmpfile", "NSTemporaryDirectory", "temporaryDirectory",
        "itemReplacementDirectory", "TMPDIR", "/tmp", "/dev/shm",
    ]

    static func check(_ tree: SourceTree) -> [Violation] {
        tree.files.filter { file in
            file.isSwift && file.stands(in: "Tests") && !exempt.contains { file.path == $0 || file.stands(in: $0) }
        }.flatMap { file in
            file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
                others.filter { line.contains($0) }.map {
                    Violation(
                        path: file.path, line: index + 1,
                        reason: "a test uses \($0); TestFolder makes folders, and removes them")
                }
            }
        }
    }
}
