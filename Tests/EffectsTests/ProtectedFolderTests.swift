import Automation
import Foundation
import LinuxSystem
import Processes
import TestSupport
import Testing

@testable import Effects

/// Tests that a program cannot read secrets, even if an earlier program moved, linked or replaced them.
@Suite(
    "Protected folders",
    .enabled(if: EffectPolicy.canKeepKeys, "this kernel has no Landlock (Linux 5.13), or denies it to this process"))
struct ProtectedFolderTests {
    private let folder = TestFolder()
    private var home: String { folder.path }
    private var state: String { home + "/state/smartplug" }
    private var password: String { home + "/configuration/password" }
    private let performer: EffectPerformer

    init() throws {
        let home = folder.path
        for name in ["state/smartplug/daemon", "state/smartplug/history", "configuration", "documents"] {
            try FileManager.default.createDirectory(atPath: home + "/" + name, withIntermediateDirectories: true)
        }
        for name in [
            "state/smartplug/key", "state/smartplug/next-key", "state/smartplug/plugs", "state/smartplug/daemon/secret",
            "configuration/password",
        ] {
            try "private".write(toFile: home + "/" + name, atomically: false, encoding: .utf8)
        }
        for name in ["state/smartplug/history/samples", "configuration/rules", "note"] {
            try "public".write(toFile: home + "/" + name, atomically: false, encoding: .utf8)
        }
        performer = EffectPerformer(outside: Self.outside(home))
    }

    private static func outside(_ home: String) -> EffectPolicy {
        let state = home + "/state/smartplug"
        let secrets = Secrets(
            files: [state + "/key", state + "/daemon/secret", home + "/configuration/password"], folders: [state],
            sharedFolders: [state + "/history"])
        return EffectPolicy(keeping: secrets)
    }

    private func perform(_ text: String) async -> EffectOutcome? {
        await performer.perform(script("cd \(home); \(text)"))
    }

    @Test(
        "A program cannot read any file in a protected folder",
        arguments: ["key", "next-key", "next-key-plugs", "plugs", "daemon/secret", "daemon/rules", "later"])
    func protectedFolderIsUnreadable(_ name: String) async throws {
        try "private".write(toFile: state + "/" + name, atomically: false, encoding: .utf8)
        #expect(await perform("cat \(state)/\(name)").words.contains("ermission denied"))
    }

    @Test("A program can read a shared folder in a protected one, and everything outside")
    func sharedFolderIsReadable() async {
        #expect(await perform("cat state/smartplug/history/samples configuration/rules note") == .done)
        #expect(await perform("ls state/smartplug | grep -qx key") == .done)
    }

    @Test(
        "A secret that a program renames inside its folder stays unreadable for the next program",
        arguments: [
            ("mv state/smartplug/next-key state/smartplug/other", "state/smartplug/other"),
            ("mv state/smartplug/key state/smartplug/history", "state/smartplug/history"),
            ("mv configuration/password configuration/other", "configuration/other"),
            ("mv configuration/password configuration/other; echo x >configuration/password", "configuration/other"),
        ])
    func renamedSecretIsUnreadable(_ change: String, _ name: String) async throws {
        if name.hasSuffix("history") { try FileManager.default.removeItem(atPath: state + "/history") }
        _ = await perform(change)
        for _ in 1...2 { #expect(await perform("cat \(name)") != .done) }
    }

    @Test(
        "A program cannot rename, replace or remove a folder that leads to secrets",
        arguments: [
            "mv state/smartplug state/other", "mv state other", "mv state/smartplug/daemon state/smartplug/other",
            "mv state/smartplug/history state/smartplug/old", "rmdir state/smartplug/history/empty",
            "mv configuration documents/configuration",
        ])
    func leadingFolderStays(_ change: String) async throws {
        for name in ["documents/empty", "state/smartplug/history/empty"] {
            try FileManager.default.createDirectory(atPath: home + "/" + name, withIntermediateDirectories: true)
        }
        #expect(await perform(change) != .done)
        for name in ["key", "daemon/secret", "history/samples"] {
            #expect(FileManager.default.fileExists(atPath: state + "/" + name))
        }
    }

    @Test(
        "A link in the place of the shared folder gives no access to its target",
        arguments: [".", "daemon", "key", "../smartplug"])
    func linkedSharedFolderSharesNothing(_ target: String) async throws {
        try FileManager.default.removeItem(atPath: state + "/history")
        #expect(await perform("ln -s \(target) \(state)/history") == .done)
        for name in ["key", "daemon/secret", "history/key", "history/secret", "history"] {
            #expect(await perform("cat \(state)/\(name)") != .done, "\(name)")
        }
    }

    @Test("Replacing a link on the path to secrets does not make them readable")
    func replacedLinkLeavesTheSecretsUnreadable() async throws {
        try FileManager.default.moveItem(atPath: home + "/state", toPath: home + "/elsewhere")
        try FileManager.default.createSymbolicLink(atPath: home + "/state", withDestinationPath: "elsewhere")
        let performer = EffectPerformer(outside: Self.outside(home))
        let before = await performer.perform(script("cat \(state)/key"))
        #expect(before.words.contains("ermission denied"))
        let change = script("cd \(home); rm state && ln -s documents state")
        #expect(await performer.perform(change) == .done)
        #expect(await performer.perform(script("cat \(home)/elsewhere/smartplug/key")) != .done)
        #expect(await performer.perform(script("cat \(home)/elsewhere/smartplug/daemon/secret")) != .done)
    }

    @Test("No program starts while a secret has a second hard link, and the error names the secret")
    func hardLinkIsRefused() async throws {
        #expect(await perform("ln configuration/password configuration/zzz") == .done)
        let outcome = await perform("cat configuration/zzz")
        #expect(outcome.words.contains("configuration/password has more than one name (2 hard links)"))
        #expect(outcome.words.contains("hint: "))
        try FileManager.default.removeItem(atPath: home + "/configuration/zzz")
        #expect(await perform("cat note") == .done)
    }

    @Test("The temporary file of a secret that is being created does not prevent a program's start")
    func draftIsNoFurtherLink() async throws {
        try FileManager.default.linkItem(atPath: password, toPath: password + ".4711")
        #expect(await perform("cat note") == .done)
        #expect(await perform("cat \(password).4711").words.contains("ermission denied"))
    }

    @Test("If a protected folder contains the home folder, only the listed secret files are protected")
    func homeFolderIsNotProtectedAsAWhole() async {
        let secrets = Secrets(files: [home + "/state/smartplug/key"], folders: [UserDirectories.home, "/"])
        let performer = EffectPerformer(outside: EffectPolicy(keeping: secrets))
        #expect(await performer.perform(script("cat \(home)/note")) == .done)
        #expect(await performer.perform(script("cat \(state)/key")) != .done)
    }
}
