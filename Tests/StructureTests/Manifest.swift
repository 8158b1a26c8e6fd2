/// The targets of Package.swift, parsed from its text. A target is a call whose first argument is its folder, or a text
/// with the names of tested modules.
struct Manifest {
    enum Form: String, CaseIterable {
        case module = "module("
        case program = "program("
        case tests = "tests("
        case executable = ".executableTarget("
        case systemLibrary = ".systemLibrary("
    }

    struct Target: Equatable {
        var name: String
        var form: Form
        var path: String
        /// The names of the listed targets and products. A product has the name of its module.
        var dependencies: [String]
        var line: Int
    }

    let targets: [Target]
    private let byName: [String: Target]

    init(_ text: String) {
        targets = Self.calls(in: text).flatMap { form, arguments, line in Self.targets(form, arguments, line) }
        byName = Dictionary(targets.map { ($0.name, $0) }) { first, _ in first }
    }

    subscript(name: String) -> Target? { byName[name] }

    /// Returns the names of all modules that a target may import: its dependencies, their dependencies and so on. Tests
    /// also depend on the module that they test.
    func reach(of target: Target) -> Set<String> {
        var (found, new) = (Set<String>(), target.dependencies + tested(by: target))
        while let name = new.popLast() {
            if found.insert(name).inserted { new += self[name]?.dependencies ?? [] }
        }
        return found
    }

    /// Returns the module that a target of tests is named after, which the target need not list as a dependency.
    /// Returns none for other targets.
    func tested(by target: Target) -> [String] {
        target.form == .tests ? [String(target.name.dropLast("Tests".count))].filter { self[$0] != nil } : []
    }

    private static func calls(in text: String) -> [(Form, Substring, line: Int)] {
        let form = /(?:^|[\s\[(])(module|program|tests|\.(?:executableTarget|systemLibrary))\(/
            .anchorsMatchLineEndings()
        return text.matches(of: form).compactMap { match in
            guard let form = Form(rawValue: match.output.1 + "("),
                let arguments = balanced(text[match.range.upperBound...], open: "(", close: ")")
            else { return nil }
            return (form, arguments, text[..<match.output.1.startIndex].filter(\.isNewline).count + 1)
        }
    }

    /// Returns the text up to the bracket that closes the bracket before `text`.
    private static func balanced(_ text: Substring, open: Character, close: Character) -> Substring? {
        var depth = 1
        for index in text.indices {
            if text[index] == open { depth += 1 }
            if text[index] == close { depth -= 1 }
            if depth == 0 { return text[..<index] }
        }
        return nil
    }

    /// Parses the targets of a call. Returns none for the functions that define the forms, because their first argument
    /// is not a literal.
    private static func targets(_ form: Form, _ arguments: Substring, _ line: Int) -> [Target] {
        switch form {
        case .module, .program, .tests:
            guard let first = literal(arguments) else { return [] }
            let rest = first.rest.prefixMatch(of: /\s*,\s*(?=")/).map { first.rest[$0.range.upperBound...] }
            let dependencies = words(rest.flatMap(literal)?.text ?? "")
            let paths = form == .tests ? words(first.text).map { "Tests/\($0)Tests" } : [first.text]
            return paths.map { path in
                Target(
                    name: path.split(separator: "/").last.map(String.init) ?? path, form: form, path: path,
                    dependencies: dependencies, line: line)
            }
        case .executable, .systemLibrary:
            guard let path = arguments.firstMatch(of: /path:\s*"([^"]+)"/)?.output.1,
                let name = arguments.prefixMatch(of: /\s*name:\s*"(\w+)"/)?.output.1
            else { return [] }
            return [Target(name: String(name), form: form, path: String(path), dependencies: [], line: line)]
        }
    }

    /// Reads a literal of one or several lines at the begin of the text.
    private static func literal(_ text: Substring) -> (text: String, rest: Substring)? {
        text.prefixMatch(of: /\s*(?:"{3}([^"]*)"{3}|"([^"]+)")/).map { match in
            (String(match.output.1 ?? match.output.2 ?? ""), text[match.range.upperBound...])
        }
    }

    /// Returns the words of a text. Lines of a long text end with a backslash.
    private static func words(_ text: String) -> [String] {
        text.split { $0.isWhitespace || $0 == "\\" }.map(String.init)
    }
}
