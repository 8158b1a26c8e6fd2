/// Checks that a pure module uses no clock, global randomness, task, file or output. The rules of imports do not find
/// these uses, because they need no import.
enum PurityRule {
    private static let types = [
        "ContinuousClock", "SuspendingClock", "SystemRandomNumberGenerator", "DispatchTime", "Date", "UUID", "Task",
        "ProcessInfo", "FileManager", "CommandLine",
    ]
    private static let functions = ["print", "debugPrint", "readLine"]

    static func check(_ tree: SourceTree) -> [Violation] {
        tree.swiftFiles { Layout.kind(of: $0) == .pure }.filter { !$0.file.isGenerated }.flatMap { file, target in
            let code = file.swift.code
            // Most files contain none of these names, and a search for a word in each line takes long.
            let types = types.filter { code.contains($0) }
            let mayCall = functions.contains { code.contains($0 + "(") }
            return file.swift.lines.flatMap { number, line in
                (uses(of: types, in: line) + (mayCall ? calls(in: line) : [])).map {
                    Violation(path: file.path, line: number, reason: "\(target.name) is pure and uses \($0)")
                }
            } + drawsWithoutGenerator(code, file, target)
        }
    }

    private static func uses(of types: [String], in line: Substring) -> [String] {
        types.filter { name in
            line.matches(of: /\w+/).contains { match in
                // Only a call or a member access uses the type. A label with that name (`Date:`) does not.
                match.output == name && line[match.range.upperBound...].starts(with: /\s*[.({]/)
            }
        }
    }

    private static func calls(in line: Substring) -> [String] {
        line.matches(of: /(?:^|[^\w.])(print|debugPrint|readLine)\(/).map { String($0.output.1) }
    }

    /// Finds `.random(in: 1...6)`, shuffling and choosing without `using:`, which draw from the system's generator.
    private static func drawsWithoutGenerator(_ code: String, _ file: SourceFile, _ target: Manifest.Target)
        -> [Violation]
    {
        code.matches(of: /\.(random|shuffled|shuffle|randomElement)\(([^()]*(?:\([^()]*\)[^()]*)*)\)/).compactMap {
            match in
            guard !match.output.2.contains("using:") else { return nil }
            let line = code[..<match.range.lowerBound].filter(\.isNewline).count + 1
            return Violation(
                path: file.path, line: line,
                reason: "\(target.name) is pure and calls .\(match.output.1)( without using:")
        }
    }
}
