import Daemon
import LinuxSystem
import ProtocolCore
import RuleChecks
import RuleEditing
import RuleFiles
import RuleModel
import Scripting

/// A rule file or a script, with the data to locate errors in it.
enum CheckedFile {
    case rules(RuleFile)
    case script(Script, path: String)

    var rules: [Rule] {
        switch self {
        case .rules(let file): file.rules
        case .script(let script, _): script.rules
        }
    }

    var path: String {
        switch self {
        case .rules(let file): file.name
        case .script(_, let path): path
        }
    }

    var reading: RuleFileReading {
        switch self {
        case .rules(let file): .rules(file.rules)
        case .script(let script, _): .script(script)
        }
    }

    /// Returns the findings about this file's rules with their places in the file.
    ///
    /// - Parameter first: The index of this file's first rule among all checked rules.
    func diagnostics(for findings: [RuleFinding], first: Int) -> [Diagnostic] {
        switch self {
        case .rules(let file): file.diagnostics(for: findings, first: first)
        case .script(let script, let path):
            findings.compactMap { finding in
                guard script.lines.indices.contains(finding.rule - first) else { return nil }
                let line = script.lines[finding.rule - first]
                let severity: Diagnostic.Severity =
                    switch finding.severity {
                    case .error: .error
                    case .warning: .warning
                    }
                return Diagnostic(
                    file: path, place: Place(line: line, column: 1), message: finding.message, hint: finding.hint,
                    line: script.text(ofLine: line), severity: severity)
            }
        }
    }

    /// Returns the name of the rule that contains a place.
    func rule(at place: Place) -> String? {
        switch self {
        case .rules(let file):
            let begun = zip(file.rules, file.places).filter { $0.1.place(of: .name) <= place }
            return begun.max { $0.1.place(of: .name) < $1.1.place(of: .name) }?.0.name
        case .script(let script, _): return zip(script.rules, script.lines).first { $0.1 == place.line }?.0.name
        }
    }

    /// Returns a warning for each plug name in a script that no known plug has. This is not an error, because such a
    /// plug may be added later.
    ///
    /// - Parameter house: The known plugs; nil if no plug is known, or with `--offline`. The result is then empty.
    func unknownPlugs(in house: [KnownPlug]?) -> [Diagnostic] {
        guard let house, case .script(let script, let path) = self else { return [] }
        let names = Set(house.map { $0.name.lowercased() })
        return ScriptWords(script.source).plugs.filter { !names.contains($0.text.lowercased()) }.map { word in
            let nearest = Suggestion.nearest(to: word.text, among: house.map(\.name))
            return Diagnostic(
                file: path, place: Place(line: word.line, column: 1), message: "no plug is called \"\(word.text)\"",
                hint: nearest.map { "did you mean \"\($0)\"?" } ?? "`plugctl browse` lists the plugs on the network",
                line: script.text(ofLine: word.line), severity: .warning)
        }
    }
}

extension Script {
    fileprivate func text(ofLine line: Int) -> String {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.contains(line - 1) ? String(lines[line - 1]) : ""
    }
}

/// The result of reading files. Valid files are still checked if others are invalid.
struct ReadRuleFiles {
    private(set) var files: [CheckedFile] = []
    private(set) var diagnostics: [Diagnostic] = []
    /// True if all files could be opened and parsed.
    private(set) var isSound = true

    init(_ paths: [String]) throws {
        let found = RulesDirectory.files(in: paths)
        for fault in found.faults {
            isSound = false
            printError(fault)
        }
        for path in found.files {
            do {
                let text = try readText(path)
                if isScript(path) {
                    files.append(.script(try readScript(path, text), path: path))
                } else {
                    files.append(.rules(try RuleFile(name: path, text: text)))
                }
            } catch let error as RuleFileError {
                report(error)
            } catch ScriptFault.refused(let error) {
                report(error)
            } catch let error as ScriptFault {
                isSound = false
                printError("\(path): \(error)")
            } catch let error as FileError {
                isSound = false
                printError("\(error)" + (error.hint.map { "\nhint: \($0)" } ?? ""))
            }
        }
        addConflicts()
    }

    /// Adds the conflicts between files for which `plugctl rules run` refuses to start. Each is reported at the first
    /// rule of its file.
    private mutating func addConflicts() {
        for (path, message, hint) in RuleFileSet.conflicts(in: files.map { ($0.path, $0.reading) }) {
            let finding = RuleFinding(.error, rule: 0, .name, message, hint: hint)
            let placed = files.first { $0.path == path }?.diagnostics(for: [finding], first: 0) ?? []
            let whole = Diagnostic(
                file: path, place: Place(line: 1, column: 1), message: message, hint: hint, line: "")
            diagnostics += placed.isEmpty ? [whole] : placed
        }
    }

    private mutating func report(_ error: RuleFileError) {
        isSound = false
        diagnostics += error.allDiagnostics
    }
}
