/// Compares Package.swift with the layout and with the imports of the sources.
enum ManifestRules {
    /// Every target is in the layout with the matching kind, and its folder has its name.
    static func targetsStandInTheLayout(_ tree: SourceTree) -> [Violation] {
        tree.manifest.targets.flatMap { target -> [Violation] in
            var reasons: [String] = []
            if target.path.split(separator: "/").last.map(String.init) != target.name {
                reasons.append("\(target.name) is in \(target.path), but its folder must have its name")
            }
            if Layout.kind(of: target) == nil {
                reasons.append("\(target.path) is not in the layout; add it to Layout.swift")
            }
            // A program in C is declared with `.executableTarget`.
            let isProgram = Layout.kind(of: target) == .program
            if target.form == .program ? !isProgram : isProgram && target.form != .executable {
                reasons.append("\(target.name) is a program in Package.swift or in the layout, but not in both")
            }
            return reasons.map { Violation(path: "Package.swift", line: target.line, reason: $0) }
        }
    }

    /// Every Swift file belongs to a target.
    static func everySourceBelongsToATarget(_ tree: SourceTree) -> [Violation] {
        tree.files.filter { $0.isSwift && !Layout.foundByName.contains($0.path) && tree.target(of: $0) == nil }.map {
            Violation(path: $0.path, line: 1, reason: "belongs to no target of Package.swift")
        }
    }

    /// Every import is declared, and every declared dependency is imported. Targets without sources are skipped.
    static func dependenciesMatchImports(_ tree: SourceTree) -> [Violation] {
        tree.manifest.targets.flatMap { target -> [Violation] in
            let files = tree.swiftFiles { $0 == target }
            guard !files.isEmpty else { return [] }
            let imports = files.flatMap { entry in entry.file.swift.imports.map { (entry.file, $0) } }
            let undeclared = imports.filter { _, found in
                !target.dependencies.contains(found.module) && !Layout.toolchain.contains(found.module)
            }.map { file, found in
                Violation(
                    path: file.path, line: found.line,
                    reason: "imports \(found.module), which Package.swift does not declare for \(target.name)")
            }
            let unused = Set(target.dependencies).subtracting(imports.map(\.1.module)).sorted().map {
                Violation(
                    path: "Package.swift", line: target.line,
                    reason: "\(target.name) declares \($0) and never imports it")
            }
            return undeclared + unused
        }
    }

    /// The name of a C target begins with C, and the target is next to its only user. A program in C has no user. A C
    /// target that only C targets use may have several users.
    static func foreignTargetsStandBesideTheirUser(_ tree: SourceTree) -> [Violation] {
        tree.manifest.targets.filter { $0.form != .executable }.flatMap { target -> [Violation] in
            let isForeign =
                target.form == .systemLibrary
                || tree.files.contains {
                    $0.stands(in: target.path) && ($0.path.hasSuffix(".c") || $0.path.hasSuffix(".h"))
                }
            guard isForeign else { return [] }
            var reasons: [String] = []
            if target.name.firstMatch(of: /^C[A-Z]/) == nil {
                reasons.append("\(target.name) is C, but its name does not begin with C")
            }
            let users = tree.manifest.targets.filter { $0.form != .tests && $0.dependencies.contains(target.name) }
            if users.count > 1, users.allSatisfy({ $0.name.firstMatch(of: /^C[A-Z]/) != nil }) {
                // Several C targets may share a C target.
            } else if users.count != 1 {
                reasons.append("\(target.name) has \(users.count) users, but a C target must have one")
            } else if folder(users[0].path) != folder(target.path) {
                reasons.append("\(target.name) is not next to \(users[0].name)")
            }
            return reasons.map { Violation(path: "Package.swift", line: target.line, reason: $0) }
        }
    }

    private static func folder(_ path: String) -> Substring {
        path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    }
}
