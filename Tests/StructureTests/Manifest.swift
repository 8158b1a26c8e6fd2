/// The targets of Package.swift, parsed from its text. A target is a call whose first argument is its name.
struct Manifest {
    enum Form: String, CaseIterable {
        case module = "module("
        case program = "program("
        case tests = "tests("
        case target = ".target("
        case executable = ".executableTarget("
        case systemLibrary = ".systemLibrary("
    }

    struct Target: Equatable {
        var name: String
        var form: Form
        var path: String
        /// The names of targets and products. A product has the name of its module.
        var dependencies: [String]
        var line: Int
    }

    var targets: [Target]

    init(_ text: String) {
        let products = Self.namedProducts(text)
        targets = Self.calls(in: text).compactMap { form, arguments, line in
            Self.target(form, arguments, line, products)
        }
    }

    subscript(name: String) -> Target? { targets.first { $0.name == name } }

    /// Maps `let nioCore = Target.Dependency.product(name: "NIOCore", ...)` to nioCore: NIOCore.
    private static func namedProducts(_ text: String) -> [String: String] {
        let form = /let\s+(\w+)\s*=\s*Target\.Dependency\.product\(name:\s*"(\w+)"/
        return Dictionary(text.matches(of: form).map { (String($0.output.1), String($0.output.2)) }) { first, _ in first
        }
    }

    private static func calls(in text: String) -> [(Form, Substring, line: Int)] {
        let form = /(?:^|[\s\[(])(module|program|tests|\.(?:target|executableTarget|systemLibrary))\(/
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

    /// Parses a target. Returns nil for the functions that define the forms, because their name is not a literal.
    private static func target(
        _ form: Form, _ arguments: Substring, _ line: Int, _ products: [String: String]
    ) -> Target? {
        guard let name = arguments.prefixMatch(of: /\s*(?:name:\s*)?"(\w+)"/)?.output.1 else { return nil }
        let path: Substring? =
            switch form {
            case .module, .program: arguments.prefixMatch(of: /\s*"\w+",\s*"([^"]+)"/)?.output.1
            case .tests: "Tests/" + name
            case .target, .executable, .systemLibrary: arguments.firstMatch(of: /path:\s*"([^"]+)"/)?.output.1
            }
        guard let path else { return nil }
        return Target(
            name: String(name), form: form, path: String(path), dependencies: dependencies(form, arguments, products),
            line: line)
    }

    private static func dependencies(_ form: Form, _ arguments: Substring, _ products: [String: String]) -> [String] {
        let list: Substring? =
            switch form {
            case .module, .program, .tests: arguments.firstIndex(of: "[").map { arguments[$0...].dropFirst() }
            case .target, .executable: arguments.firstRange(of: "dependencies: [").map { arguments[$0.upperBound...] }
            case .systemLibrary: nil
            }
        guard let list, let elements = balanced(list, open: "[", close: "]") else { return [] }
        let element = /\.product\(name:\s*"(\w+)"[^)]*\)|"(\w+)"|(\w+)/
        return elements.matches(of: element).map { match in
            if let literal = match.output.1 ?? match.output.2 { return String(literal) }
            let name = match.output.3.map(String.init) ?? ""
            return products[name] ?? name
        }
    }
}
