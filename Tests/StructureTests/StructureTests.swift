import Testing

/// The rules on this repository as it is.
@Suite("The source tree keeps its rules")
struct StructureTests {
    /// Read once for all rules.
    static let read = Result { try SourceTree.ofThisPackage() }
    let tree: SourceTree

    init() throws { tree = try Self.read.get() }

    @Test("The tree and its manifest were really read")
    func treeWasRead() {
        #expect(tree.manifest.targets.count > 10)
        #expect(tree.manifest["LinuxNetwork"]?.dependencies.contains("NIOPosix") == true)
        #expect(tree.files.contains { $0.path == "Sources/ProtocolCore/Machine.swift" })
        #expect(tree.files.contains { $0.path == SecurityRule.page })
    }

    @Test func firmwareAndControllerNeverImportEachOther() { expectNone(ImportRules.sidesStayApart(tree)) }
    @Test func sourcesImportNeitherSide() { expectNone(ImportRules.sourcesKnowNoSide(tree)) }
    @Test func pureModulesImportOnlyPureModules() { expectNone(ImportRules.pureModulesImportPureOnes(tree)) }
    @Test func pureModulesUseNoClockAndNoGlobalRandomness() { expectNone(PurityRule.check(tree)) }
    @Test func onlySystemModulesImportTheCLibrary() { expectNone(ImportRules.onlySystemModulesImportC(tree)) }
    @Test func generatedFilesDoNotImportFoundation() { expectNone(ImportRules.generatedFilesStaySmall(tree)) }
    @Test func programsOnlyWire() { expectNone(ProgramRule.check(tree)) }
    @Test func targetsStandInTheLayout() { expectNone(ManifestRules.targetsStandInTheLayout(tree)) }
    @Test func everySourceBelongsToATarget() { expectNone(ManifestRules.everySourceBelongsToATarget(tree)) }
    @Test func dependenciesMatchImports() { expectNone(ManifestRules.dependenciesMatchImports(tree)) }
    @Test func foreignTargetsStandBesideTheirUser() {
        expectNone(ManifestRules.foreignTargetsStandBesideTheirUser(tree))
    }
    @Test func testsMakeFoldersByOneHelper() { expectNone(TestFolderRule.check(tree)) }
    @Test func everyClaimOfTheSecurityPageNamesATest() { expectNone(SecurityRule.check(tree)) }
    @Test func limitsAreToldAsTheyAre() { expectNone(LimitRule.check(tree)) }

    private func expectNone(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
        for violation in violations { Issue.record("\(violation)", sourceLocation: sourceLocation) }
    }
}
