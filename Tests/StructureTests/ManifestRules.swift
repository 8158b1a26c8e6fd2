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
            // A program in C is declared with `.executableTarget`, and the benchmarks are code that supports tests.
            let isProgram = Layout.kind(of: target) == .program
            let mayBeProgram = isProgram || Layout.kind(of: target) == .support
            if target.form == .program ? !mayBeProgram : isProgram && target.form != .executable {
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

    /// Every imported module is a direct or indirect dependency. Every listed dependency is imported, and no other
    /// listed dependency depends on it. Targets without sources are skipped.
    static func dependenciesMatchImports(_ tree: SourceTree) -> [Violation] {
        tree.manifest.targets.flatMap { target -> [Violation] in
            let files = tree.swiftFiles { $0 == target }
            guard !files.isEmpty else { return [] }
            let imports = files.flatMap { entry in entry.file.swift.imports.map { (entry.file, $0) } }
            let reach = tree.manifest.reach(of: target)
            let undeclared = imports.filter { _, found in
                !reach.contains(found.module) && !Layout.toolchain.contains(found.module)
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
            return undeclared + unused + repeated(target, tree.manifest)
        }
    }

    private static func repeated(_ target: Manifest.Target, _ manifest: Manifest) -> [Violation] {
        target.dependencies.flatMap { name in
            (target.dependencies + manifest.tested(by: target)).filter { other in
                other != name && manifest[other].map { manifest.reach(of: $0).contains(name) } ?? false
            }.map { other in
                Violation(
                    path: "Package.swift", line: target.line,
                    reason: "\(target.name) lists \(name), on which \(other) depends already")
            }
        }
    }

    /// The name of a C target begins with C.
    static func foreignTargetsBeginWithC(_ tree: SourceTree) -> [Violation] {
        tree.manifest.targets.filter { $0.form != .executable }.compactMap { target in
            let isForeign =
                target.form == .systemLibrary
                || tree.files.contains {
                    $0.stands(in: target.path) && ($0.path.hasSuffix(".c") || $0.path.hasSuffix(".h"))
                }
            guard isForeign, target.name.firstMatch(of: /^C[A-Z]/) == nil else { return nil }
            return Violation(
                path: "Package.swift", line: target.line,
                reason: "\(target.name) is C, but its name does not begin with C")
        }
    }
}
