/// What needs no import and would still make a pure module depend on the moment or the machine it runs on.
enum PurityRule {
    static func check(_ tree: SourceTree) -> [Violation] {
        tree.swiftFiles { Layout.kind(of: $0) == .pure }.filter { !$0.file.isGenerated }.flatMap { file, target in
            file.swift.lines.flatMap { number, line in
                impurities(line).map {
                    Violation(path: file.path, line: number, reason: "\(target.name) is pure and uses \($0)")
                }
            } + drawsWithoutGenerator(file.swift.code, file, target)
        }
    }

    private static func impurities(_ line: Substring) -> [String] {
        let names = [
            "ContinuousClock", "SuspendingClock", "SystemRandomNumberGenerator", "DispatchTime", "Date", "UUID", "Task",
            "ProcessInfo", "FileManager", "CommandLine",
        ]
        let used = names.filter { name in
            line.matches(of: /\w+/).contains { match in
                // A member or a label of that name (`.date`, `Date:`) is another thing; a type is used by its call or member.
                match.output == name && line[match.range.upperBound...].starts(with: /\s*[.({]/)
            }
        }
        return used + line.matches(of: /(?:^|[^\w.])(print|debugPrint|readLine)\(/).map { String($0.output.1) }
    }

    /// `.random(in: 1...6)` draws from the system's generator unless `using:` names another; so do shuffling and choosing.
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
