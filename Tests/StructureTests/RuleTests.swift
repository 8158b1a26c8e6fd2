import Testing

/// Tests that each rule reports a violation, at its line, in a sample package.
@Suite("Structure rules report violations")
struct RuleTests {
    static let rules: [@Sendable (SourceTree) -> [Violation]] = [
        ImportRules.sidesStayApart, ImportRules.sourcesKnowNoSide, ImportRules.pureModulesImportPureOnes,
        ImportRules.onlySystemModulesImportC, ImportRules.generatedFilesStaySmall, PurityRule.check,
        ProgramRule.check, ManifestRules.targetsStandInTheLayout,
        ManifestRules.everySourceBelongsToATarget, ManifestRules.dependenciesMatchImports,
        ManifestRules.foreignTargetsBeginWithC, TestFolderRule.check, SecurityRule.check,
        BudgetRule.check,
    ]

    @Test("The sample package violates no rule")
    func madeUpPackageIsClean() {
        for rule in Self.rules { #expect(rule(MadeUpTree.tree()) == []) }
    }

    @Test("Firmware that imports a controller module is reported at the import's line")
    func firmwareThatImportsTheController() {
        let tree = MadeUpTree.tree(adding: ["Firmware/plugd/main.swift": "import PlugHardware\nimport RuleFiles\n"])
        let found = ImportRules.sidesStayApart(tree)
        #expect(found.map(\.path) == ["Firmware/plugd/main.swift"])
        #expect(found.map(\.line) == [2])
    }

    @Test("A controller module that imports firmware is reported") func controllerThatImportsFirmware() {
        let tree = MadeUpTree.tree(adding: ["Controller/RuleFiles/Rules.swift": "@testable import PlugHardware\n"])
        #expect(ImportRules.sidesStayApart(tree).count == 1)
    }

    @Test("A shared module that imports firmware is reported") func sourcesThatImportFirmware() {
        let tree = MadeUpTree.tree(adding: ["Sources/LinuxNetwork/Socket.swift": "package import PlugHardware\n"])
        #expect(ImportRules.sourcesKnowNoSide(tree).map(\.line) == [1])
    }

    @Test(
        "A pure module that imports an impure module is reported",
        arguments: [
            "Foundation", "FoundationEssentials", "Glibc", "Dispatch", "NIOCore", "LinuxNetwork", "CLinuxNetwork",
        ])
    func pureModuleThatImports(_ module: String) {
        let tree = MadeUpTree.tree(adding: ["Sources/DNSWire/Name.swift": "\n  private import struct \(module).Thing\n"]
        )
        #expect(ImportRules.pureModulesImportPureOnes(tree).map(\.line) == [2])
    }

    @Test(
        "A pure module that uses a clock, global randomness, a task or output is reported",
        arguments: [
            "let start = ContinuousClock.now", "let start = ContinuousClock().now",
            "var source = SystemRandomNumberGenerator()",
            "let die = Int.random(in: 1...6)", "let die = Int.random(in: low()...6)", "list.shuffle()",
            "let one = list.randomElement()", "Task { await go() }", "try await Task.sleep(for: .seconds(1))",
            "print(name)",
            "let now = Date()", "let die = Int.random(\n  in: 1...6)",
        ])
    func pureModuleThatReachesOutside(_ line: String) {
        let tree = MadeUpTree.tree(adding: ["Sources/DNSWire/Name.swift": "struct A {}\n\(line)\n"])
        #expect(PurityRule.check(tree).map(\.line) == [2])
    }

    @Test(
        "Draws from a generator, and names in comments, strings or members, are accepted in a pure module",
        arguments: [
            "let die = Int.random(in: 1...6, using: &generator)", "let one = list.randomElement(using: &generator)",
            "// print(name) at ContinuousClock.now", #"let text = "\(name) Date() print(x)""#, "/* Task { } */",
            "func print(to: Output) {}".replacing("func print", with: "func write"), "let date = Record.Date",
            "machine.print(name)",
        ])
    func pureModuleThatOnlyLooksSo(_ line: String) {
        let tree = MadeUpTree.tree(adding: ["Sources/DNSWire/Name.swift": "struct A {}\n\(line)\n"])
        #expect(PurityRule.check(tree) == [])
    }

    @Test(
        "A test that makes its own temporary folder is reported, other code is not",
        arguments: [
            "let made = mkdtemp(&template)", "let path = FileManager.default.temporaryDirectory.path",
            "let path = NSTemporaryDirectory()", #"let path = "/tmp/lamp-\(getpid())""#, #"let path = "/dev/shm/lamp""#,
            #"script("date >/var/tmp/lamp")"#,
        ])
    func testThatMakesItsOwnFolder(_ line: String) {
        for path in ["Tests/DNSWireTests/NameTests.swift", "Tests/Support/SimulatedLAN/Link.swift"] {
            let tree = MadeUpTree.tree(adding: [path: "import DNSWire\n\(line)\n"])
            #expect(TestFolderRule.check(tree).map { "\($0.path) \($0.line)" } == ["\(path) 2"])
        }
        let elsewhere = MadeUpTree.tree(adding: [
            "Firmware/plugd/main.swift": line, "Tests/Support/TestSupport/TestFolder.swift": line,
        ])
        #expect(TestFolderRule.check(elsewhere) == [])
    }

    @Test("A shell that imports the C library is reported") func shellThatImportsTheCLibrary() {
        let tree = MadeUpTree.tree(adding: [
            "Sources/Recordings/Reader.swift": "import CLZMA\n#if os(Linux)\nimport Glibc\n#endif\n"
        ])
        #expect(ImportRules.onlySystemModulesImportC(tree).map(\.line) == [3])
    }

    @Test("A generated file that imports Foundation is reported, unless the import is conditional")
    func generatedFileThatImportsFoundation() {
        let plain = MadeUpTree.tree(adding: ["Sources/DNSWire/a.pb.swift": "import Foundation\n"])
        #expect(ImportRules.generatedFilesStaySmall(plain).count == 1)
        let conditional =
            "#if canImport(FoundationEssentials)\nimport FoundationEssentials\n#else\nimport Foundation\n#endif\n"
        let written = MadeUpTree.tree(adding: ["Sources/DNSWire/a.pb.swift": conditional])
        #expect(ImportRules.generatedFilesStaySmall(written) == [])
        #expect(ImportRules.pureModulesImportPureOnes(written) == [])
    }

    @Test(
        "A program that declares a class, an actor or a machine, or imports NIO, is reported",
        arguments: [
            "actor Session {}", "final class Session {}", "struct Session: Sendable, Machine {", "import NIOCore",
        ])
    func programThatDoesMoreThanWire(_ line: String) {
        let tree = MadeUpTree.tree(adding: ["Firmware/plugd/main.swift": "import PlugHardware\n\(line)\n"])
        #expect(ProgramRule.check(tree).map(\.line) == [2])
    }

    @Test("A target that is not in the layout, or differs from it, is reported") func targetOutsideTheLayout() {
        let unknown = MadeUpTree.tree { $0 + "\nmodule(\"Sources/Helpers\")" }
        #expect(ManifestRules.targetsStandInTheLayout(unknown).map(\.line) == [24])
        let moved = MadeUpTree.tree { $0.replacing("path: \"Sources/CLZMA\"", with: "path: \"Sources/LZMA\"") }
        #expect(ManifestRules.targetsStandInTheLayout(moved).count == 2)
        let program = MadeUpTree.tree {
            $0.replacing("module(\"Firmware/PlugHardware\"", with: "program(\"Firmware/PlugHardware\"")
        }
        #expect(ManifestRules.targetsStandInTheLayout(program).count == 1)
    }

    @Test("A source file without a target is reported") func sourceWithoutTarget() {
        let tree = MadeUpTree.tree(adding: ["Sources/Lost/Lost.swift": ""])
        #expect(ManifestRules.everySourceBelongsToATarget(tree).map(\.path) == ["Sources/Lost/Lost.swift"])
    }

    @Test("An undeclared import and an unused dependency are reported") func dependencyThatIsNotDeclaredOrNotUsed() {
        let undeclared = MadeUpTree.tree(adding: ["Sources/DNSWire/Name.swift": "import DequeModule\n"])
        #expect(ManifestRules.dependenciesMatchImports(undeclared).map(\.path) == ["Sources/DNSWire/Name.swift"])
        let unused = MadeUpTree.tree(adding: ["Controller/RuleFiles/Rules.swift": "import DNSWire\n"])
        #expect(
            ManifestRules.dependenciesMatchImports(unused).map(\.reason) == [
                "RuleFiles declares Yams and never imports it"
            ])
    }

    @Test("A dependency of a dependency may be imported, but not listed") func dependencyOfADependency() {
        let imported = MadeUpTree.tree(adding: [
            "Tests/LinuxNetworkTests/SocketTests.swift":
                "import CLinuxNetwork\nimport LinuxNetwork\nimport Recordings\n"
        ])
        #expect(
            ManifestRules.dependenciesMatchImports(imported).map(\.reason) == [
                "imports Recordings, which Package.swift does not declare for LinuxNetworkTests"
            ])
        let files = ["Controller/RuleFiles/Rules.swift": "import LinuxNetwork\nimport DNSWire\n"]
        let listed = MadeUpTree.tree(adding: files) {
            $0.replacing("Yams", with: "LinuxNetwork")
        }
        #expect(
            ManifestRules.dependenciesMatchImports(listed).map(\.reason) == [
                "RuleFiles lists DNSWire, on which LinuxNetwork depends already"
            ])
    }

    @Test("A C target without the prefix C is reported") func foreignTargetWithAnotherName() {
        let file = ["Sources/linux/include/sockets.h": "int open_socket(void);\n"]
        let renamed = MadeUpTree.tree(adding: file) { $0.replacing("Sources/CLinuxNetwork", with: "Sources/linux") }
        #expect(ManifestRules.foreignTargetsBeginWithC(renamed).count == 1)
        let library = MadeUpTree.tree { $0.replacing("\"CLZMA\"", with: "\"LZMA\"") }
        #expect(ManifestRules.foreignTargetsBeginWithC(library).count == 1)
    }

    @Test("A pure module may import single functions of the mathematics library, and no others")
    func functionsOfMathematics() {
        let sine = MadeUpTree.tree(adding: ["Sources/DNSWire/Name.swift": "import func Glibc.sin\n"])
        #expect(ImportRules.pureModulesImportPureOnes(sine) == [] && ImportRules.onlySystemModulesImportC(sine) == [])
        let time = MadeUpTree.tree(adding: ["Sources/DNSWire/Name.swift": "import func Glibc.time\n"])
        #expect(ImportRules.pureModulesImportPureOnes(time).count == 1)
    }

    @Test("The manifest parser returns names, paths and dependencies of all forms of targets")
    func manifestIsReadAsWritten() {
        let manifest = Manifest(MadeUpTree.manifest)
        #expect(
            manifest.targets.map(\.name) == [
                "DNSWire", "LinuxNetwork", "CLinuxNetwork", "CLZMA", "Recordings", "PlugHardware", "plugd", "RuleFiles",
                "SimulatedLAN", "ScriptHost", "DNSWireTests", "LinuxNetworkTests",
            ])
        #expect(manifest["LinuxNetwork"]?.dependencies == ["DNSWire", "CLinuxNetwork", "NIOCore"])
        #expect(manifest["RuleFiles"]?.dependencies == ["DNSWire", "Yams"])
        #expect(manifest["DNSWireTests"]?.path == "Tests/DNSWireTests")
        #expect(manifest["CLZMA"]?.dependencies == [] && manifest["CLinuxNetwork"]?.dependencies == [])
        #expect(manifest["LinuxNetworkTests"]?.dependencies == [])
        #expect(manifest["plugd"]?.form == .program && manifest["plugd"]?.dependencies == ["PlugHardware"])
    }

    @Test("Imports in comments and string literals are ignored") func commentsAndStringsAreNotCode() {
        let text = SwiftText(
            "let a = \"\"\"\n  import A \"x\" \\(b(\")\"))\n  \"\"\"\n/* /* */ import B */\nimport C // import D\nlet r = #\"a\"\\(\"#\nimport E\n"
        )
        #expect(text.imports == [.init(module: "C", line: 5), .init(module: "E", line: 7)])
    }

    private static let tests = [
        "Tests/DNSWireTests/NameTests.swift":
            "import Testing\n@Test(arguments: [1])\nfunc aNameIsRead(_ n: Int) {}\nfunc helper() {}\n",
        "Tests/Programs/test_names.py": "def test_a_name():\n    pass\n\ndef helper():\n    pass\n",
    ]

    private func security(_ page: String) -> [String] {
        let tree = MadeUpTree.tree(adding: Self.tests.merging([SecurityRule.page: page]) { $1 })
        return SecurityRule.check(tree).map { "\($0.line) \($0.reason)" }
    }

    @Test("A program file above the limit of lines is reported")
    func longPrograms() {
        let lines = String(repeating: "// line\n", count: Layout.longestProgramFile)
        #expect(ProgramRule.check(MadeUpTree.tree(adding: ["Firmware/plugd/Run.swift": lines])) == [])
        #expect(
            ProgramRule.check(MadeUpTree.tree(adding: ["Firmware/plugd/Run.swift": lines + "// more\n"])).count == 1)
    }

    @Test("A message of the protocol without a row in the table of budgets is reported")
    func aMessageWithoutABudget() {
        let proto = """
            message ControllerMessage {
              oneof kind {
                Hello hello = 1;
                Ping ping = 6;
              }
            }
            message PlugMessage {
              oneof kind {
                Pong pong = 9;
              }
            }
            """
        func found(_ rows: String) -> [String] {
            let page =
                "| message of a controller | cost |\n| --- | --- |\n\(rows)\n\n"
                + "| message of a plug | cost |\n| --- | --- |\n| Pong | a little |\n"
            let files = [SecurityRule.page: page, "Sources/PlugProtocol/Specification/smartplug.proto": proto]
            return BudgetRule.check(MadeUpTree.tree(adding: files)).map(\.reason)
        }
        #expect(found("| Hello, Ping | a little |") == [])
        let missing = "the table \"| message of a controller |\" has no row for Ping"
        #expect(found("| Hello | a little |") == [missing])
        #expect(found("").contains { $0.hasSuffix("is missing") })
    }

    @Test("Claims with existing tests are accepted") func claimsWithTheirTests() {
        let table = "| who | by | test |\n| --- | --- | --- |\n| a | `tls` | `aNameIsRead`, `test_a_name` |\n"
        let status =
            "| provision | | test |\n| --- | --- | --- |\n| 1 | not | - |\n| 2 | n/a | - |\n| 3 | met | `test_a_name` |\n"
        let list =
            "\n## Not covered\n\n- a box\n\n## How\n\nIt is so.\n\n- **Keys** in `key`.\n  Test: `aNameIsRead`.\n"
        #expect(security(table + "\n" + status + list) == [])
    }

    @Test("A security claim without a test is reported") func claimWithoutATest() {
        let missing = "this claim names no test that fails when it is broken"
        #expect(security("| who | by | test |\n| --- | --- | --- |\n| a | `aNameIsRead` | - |\n") == ["3 \(missing)"])
        #expect(security("| p | | test |\n| --- | --- | --- |\n| 1 | part | |\n") == ["3 \(missing)"])
        #expect(security("| who | by |\n| --- | --- |\n| a | `aNameIsRead` |\n") == ["3 \(missing)"])
        #expect(security("## How\n\n- **Keys** `aNameIsRead`\n- b\n  Test: `test_a_name`\n") == ["3 \(missing)"])
    }

    @Test(
        "A security claim with an unknown test is reported",
        arguments: ["helper", "aNameIsReed", "test_b_name", "NameTests"])
    func claimWithATestThatIsNotThere(_ name: String) {
        let row = "| p | | test |\n| --- | --- | --- |\n| 1 | met | `aNameIsRead`, `\(name)` |\n"
        #expect(security(row) == ["3 unknown test \(name)"])
        #expect(security("## How\n\n- a\n  Test: `\(name)`.\n") == ["3 unknown test \(name)"])
    }
}
