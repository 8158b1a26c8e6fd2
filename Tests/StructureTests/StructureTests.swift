import Testing

/// Applies the rules to this repository.
@Suite("The source tree follows the structure rules")
struct StructureTests {
    /// The source tree, read once for all rules.
    static let read = Result { try SourceTree.ofThisPackage() }
    let tree: SourceTree

    init() throws { tree = try Self.read.get() }

    @Test("The source tree and its manifest are not empty")
    func treeWasRead() {
        #expect(tree.manifest.targets.count > 10)
        #expect(tree.manifest["LinuxNetwork"]?.dependencies.contains("NIOPosix") == true)
        #expect(tree.files.contains { $0.path == "Sources/ProtocolCore/Machine.swift" })
        #expect(tree.files.contains { $0.path == SecurityRule.page })
        #expect(tree.files.contains { $0.path == "Sources/PlugProtocol/Specification/smartplug.proto" })
    }

    @Test("Firmware and controller never import each other")
    func firmwareAndControllerNeverImportEachOther() { expectNone(ImportRules.sidesStayApart(tree)) }
    @Test("Shared modules import neither firmware nor controller")
    func sourcesImportNeitherSide() { expectNone(ImportRules.sourcesKnowNoSide(tree)) }
    @Test("Pure modules import only pure modules and pure libraries")
    func pureModulesImportOnlyPureModules() { expectNone(ImportRules.pureModulesImportPureOnes(tree)) }
    @Test("Pure modules use no clock and no global randomness")
    func pureModulesUseNoClockAndNoGlobalRandomness() { expectNone(PurityRule.check(tree)) }
    @Test("Only system and support modules import the C library")
    func onlySystemModulesImportTheCLibrary() { expectNone(ImportRules.onlySystemModulesImportC(tree)) }
    @Test("Generated files do not import Foundation unconditionally")
    func generatedFilesDoNotImportFoundation() { expectNone(ImportRules.generatedFilesStaySmall(tree)) }
    @Test("Programs only connect modules") func programsOnlyWire() { expectNone(ProgramRule.check(tree)) }
    @Test("Every target is in the layout")
    func targetsStandInTheLayout() { expectNone(ManifestRules.targetsStandInTheLayout(tree)) }
    @Test("Every Swift file belongs to a target")
    func everySourceBelongsToATarget() { expectNone(ManifestRules.everySourceBelongsToATarget(tree)) }
    @Test("Declared dependencies match the imports")
    func dependenciesMatchImports() { expectNone(ManifestRules.dependenciesMatchImports(tree)) }
    @Test("The name of every C target begins with C")
    func foreignTargetsBeginWithC() { expectNone(ManifestRules.foreignTargetsBeginWithC(tree)) }
    @Test("Tests create temporary folders only with TestFolder")
    func testsMakeFoldersByOneHelper() { expectNone(TestFolderRule.check(tree)) }
    @Test("Every claim of the security page names an existing test")
    func everyClaimOfTheSecurityPageNamesATest() { expectNone(SecurityRule.check(tree)) }
    @Test("The tables of budgets list every message")
    func budgetsAreComplete() { expectNone(BudgetRule.check(tree)) }

    private func expectNone(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
        for violation in violations { Issue.record("\(violation)", sourceLocation: sourceLocation) }
    }
}
