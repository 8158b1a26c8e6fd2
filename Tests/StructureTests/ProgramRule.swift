/// Checks that executables only connect modules. Decisions, state and sockets belong in a module, which tests can
/// import.
enum ProgramRule {
    static func check(_ tree: SourceTree) -> [Violation] {
        tree.swiftFiles { Layout.kind(of: $0) == .program }.flatMap { file, target in
            var found: [Violation] = []
            if file.lineCount > Layout.longestProgramFile {
                found.append(
                    Violation(
                        path: file.path, line: Layout.longestProgramFile,
                        reason: "\(file.lineCount) lines; a program's file has at most \(Layout.longestProgramFile)"))
            }
            found += file.swift.imports.filter { $0.module.hasPrefix("NIO") }.map {
                Violation(
                    path: file.path, line: $0.line,
                    reason: "\(target.name) imports \($0.module); sockets belong in a shell")
            }
            found += file.swift.lines.compactMap { number, line in
                line.firstMatch(of: /(?:^|\s)(actor|class)\s+[A-Z]\w*|:\s*(?:\w+,\s*)*(Machine)\b/).map { match in
                    let what = String(match.output.1 ?? match.output.2 ?? "")
                    return Violation(
                        path: file.path, line: number,
                        reason: "\(target.name) declares \(what); state belongs in a module")
                }
            }
            return found
        }
    }
}
