/// Checks imports between modules.
enum ImportRules {
    /// Firmware and controller share only the modules of Sources.
    static func sidesStayApart(_ tree: SourceTree) -> [Violation] {
        violations(tree, where: { side($0) != nil }) { module, target in
            guard let other = tree.manifest[module].flatMap(side), let own = side(target), other != own else {
                return nil
            }
            return "\(own) imports \(module) of \(other); what both need belongs in Sources"
        }
    }

    /// Modules of Sources import neither firmware nor controller.
    static func sourcesKnowNoSide(_ tree: SourceTree) -> [Violation] {
        violations(tree, where: { $0.path.hasPrefix("Sources/") }) { module, _ in
            guard let other = tree.manifest[module].flatMap(side) else { return nil }
            return "Sources imports \(module) of \(other)"
        }
    }

    /// A pure module imports pure modules and pure libraries only.
    static func pureModulesImportPureOnes(_ tree: SourceTree) -> [Violation] {
        violations(tree, where: { Layout.kind(of: $0) == .pure }) { module, target in
            let isPure =
                Layout.pureLibraries.contains(module)
                || tree.manifest[module].map { Layout.kind(of: $0) == .pure } ?? false
            return isPure ? nil : "\(target.name) is pure and imports \(module)"
        }
    }

    /// Only modules of kind `system` and `support` import the C library.
    static func onlySystemModulesImportC(_ tree: SourceTree) -> [Violation] {
        violations(tree, where: { ![.system, .support].contains(Layout.kind(of: $0)) }) { module, target in
            Layout.cLibraries.contains(module)
                ? "\(target.name) imports \(module); only modules of kind system or support may"
                : nil
        }
    }

    /// A generated file may import FoundationEssentials in every kind of module. It may import Foundation only directly
    /// after `#else`.
    static func generatedFilesStaySmall(_ tree: SourceTree) -> [Violation] {
        tree.files.filter(\.isGenerated).flatMap { file in
            file.swift.imports.filter { $0.module == "Foundation" && !isConditional($0, in: file) }.map {
                Violation(path: file.path, line: $0.line, reason: "generated code imports Foundation")
            }
        }
    }

    /// protoc-gen-swift writes `#if canImport(FoundationEssentials) … #else import Foundation #endif`.
    private static func isConditional(_ found: SwiftText.Import, in file: SourceFile) -> Bool {
        let before = file.swift.lines.prefix(found.line - 1).last { !$0.text.allSatisfy(\.isWhitespace) }
        return before?.text.trimmingPrefix(/\s+/).hasPrefix("#else") ?? false
    }

    private static func side(_ target: Manifest.Target) -> String? {
        ["Firmware", "Controller"].first { target.path.hasPrefix($0 + "/") }
    }

    private static func violations(
        _ tree: SourceTree, where condition: (Manifest.Target) -> Bool,
        _ judge: (String, Manifest.Target) -> String?
    ) -> [Violation] {
        tree.swiftFiles(where: condition).filter { !$0.file.isGenerated }.flatMap { file, target in
            file.swift.imports.filter { !Layout.mathematics.contains($0.declaration ?? "") }.compactMap { found in
                judge(found.module, target).map { Violation(path: file.path, line: found.line, reason: $0) }
            }
        }
    }
}
