/// Checks that each claim of the security page names existing tests. The author of a change that deletes or renames a
/// test must then also change the claim.
///
/// A claim is a row of a table, or an item of the list under "How". A row has its tests in the last column, whose
/// header is `test`; a row with the status *not* or *n/a* needs no test. An item ends with `Test:` and its tests.
enum SecurityRule {
    static let page = "Documentation/explanation/security.md"
    private static let without: Set = ["not", "n/a"]

    static func check(_ tree: SourceTree) -> [Violation] {
        guard let page = tree.files.first(where: { $0.path == page }) else { return [] }
        let known = tests(tree)
        return claims(page.text).flatMap { claim in
            var found: [String] = []
            if claim.tests.isEmpty, !claim.needsNone {
                found.append("this claim names no test that fails when it is broken")
            }
            found += claim.tests.filter { !known.contains($0) }.map { "unknown test \($0)" }
            return found.map { Violation(path: page.path, line: claim.line, reason: $0) }
        }
    }

    private struct Claim {
        var line: Int
        var tests: [String]
        var needsNone = false
    }

    private static func claims(_ text: String) -> [Claim] {
        var claims: [Claim] = []
        var section = ""
        var header: [Substring] = []
        /// The current item of the list.
        var item: (line: Int, text: String)?
        func end() {
            guard let ended = item else { return }
            let told = ended.text.firstRange(of: "Test:").map { ended.text[$0.upperBound...] } ?? ""
            claims.append(Claim(line: ended.line, tests: names(told)))
            item = nil
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let number = index + 1
            if line.hasPrefix("#") || line.isEmpty || line.hasPrefix("- ") || line.hasPrefix("|") { end() }
            if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
            if line.hasPrefix("- "), section == "How" { item = (number, "") }
            if item != nil { item?.text += line + "\n" }
            guard line.hasPrefix("|") else {
                header = []
                continue
            }
            let cells = cells(line)
            if header.isEmpty {
                header = cells
            } else if !line.allSatisfy({ "|- ".contains($0) }) {
                // The rows of a table without a column `test` are claims without tests.
                let told = header.last == "test" && cells.count == header.count ? cells.last ?? "" : ""
                let status = header.last == "test" && header.count > 1 && header[1].isEmpty ? cells[1] : ""
                claims.append(Claim(line: number, tests: names(told), needsNone: without.contains(String(status))))
            }
        }
        end()
        return claims
    }

    private static func cells(_ row: Substring) -> [Substring] {
        row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map { cell in
            var cell = cell.drop { $0 == " " }
            while cell.last == " " { cell.removeLast() }
            return cell
        }
    }

    private static func names(_ text: Substring) -> [String] {
        text.matches(of: /`(\w+)`/).map { String($0.output.1) }
    }

    /// Returns the names of all test functions: after `@Test` in Swift, `test_…` in Python.
    private static func tests(_ tree: SourceTree) -> Set<String> {
        var names: Set<String> = []
        for file in tree.files where file.stands(in: "Tests") {
            if file.isSwift {
                let pieces = file.text.split(separator: "func ", omittingEmptySubsequences: false)
                for (before, piece) in zip(pieces, pieces.dropFirst()) where before.contains("@Test") {
                    names.insert(String(piece.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
                }
            } else if file.path.hasSuffix(".py") {
                names.formUnion(file.text.matches(of: /(?m)^ *def (test_\w+)\(/).map { String($0.output.1) })
            }
        }
        return names
    }
}
