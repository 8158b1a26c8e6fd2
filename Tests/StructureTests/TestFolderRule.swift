/// Tests get their folders from one helper, which removes them: no file of a test stays behind.
enum TestFolderRule {
    /// The helper, the benchmarks, which are no tests, and this rule with its own tests.
    private static let exempt = ["Tests/Support/TestFolders", "Tests/Benchmarks", "Tests/StructureTests"]
    /// What makes a temporary folder or file, or names the place of one. Words of string literals count, since paths are there.
    private static let others = [
        "mkdtemp", "mkstemp", "tmpnam", "tmpfile", "NSTemporaryDirectory", "temporaryDirectory",
        "itemReplacementDirectory", "TMPDIR", "/tmp", "/dev/shm",
    ]

    static func check(_ tree: SourceTree) -> [Violation] {
        tree.files.filter { file in
            file.isSwift && file.stands(in: "Tests") && !exempt.contains { file.stands(in: $0) }
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
