import Automation
import Foundation
import Processes
import TestSupport
import Testing

@testable import Effects

/// Runs real programs in a Landlock sandbox of the kernel that runs the tests.
@Suite(
    "Protection of the daemon's keys",
    .enabled(if: EffectPolicy.canKeepKeys, "this kernel has no Landlock (Linux 5.13), or denies it to this process"))
struct KeyFenceTests {
    private let folder = TestFolder()
    private var home: String { folder.path }
    private var key: String { home + "/state/daemon/key" }
    private var password: String { home + "/configuration/password" }

    init() throws {
        for name in ["state/daemon/rules", "state/history", "configuration", "documents"] {
            try FileManager.default.createDirectory(atPath: home + "/" + name, withIntermediateDirectories: true)
        }
        for name in ["state/daemon/key", "state/daemon/key.new", "state/daemon/keys"] { try write("private", name) }
        for name in ["state/plugs", "documents/letter", "note"] { try write("public", name) }
    }

    private func write(_ text: String, _ name: String) throws {
        try text.write(toFile: home + "/" + name, atomically: false, encoding: .utf8)
    }

    private func perform(_ text: String) async -> EffectOutcome? {
        await EffectPerformer(
            outside: EffectPolicy(keeping: Secrets(files: [key, password]), socket: home + "/socket")
        )
        .perform(script("cd \(home); \(text)"))
    }

    @Test("A program cannot read a key") func aProgramReadsNoKey() async {
        #expect(await EffectPerformer().perform(script("cat \(key)")) == .done)
        for text in [
            "cat \(key)", "cat state/daemon/../daemon/key", "sh -c 'sh -c \"exec cat \(key)\"'", "exec <\(key)",
        ] {
            #expect(await perform(text).words.contains("ermission denied"), "\(text)")
        }
    }

    @Test("A program cannot read the temporary file of a new key") func noDraftOfAKeyIsReadEither() async {
        #expect(await perform("cat state/daemon/key.new").words.contains("ermission denied"))
        #expect(await perform("cat state/daemon/keys") == .done)
    }

    @Test("A program cannot read a key through copies, links, renames or /proc")
    func noOtherWayLeadsToAKey() async throws {
        let ways = [
            "cp \(key) documents/copy", "ln \(key) documents/copy && cat documents/copy",
            "ln -s \(key) documents/link; cat documents/link", "cat /proc/self/root\(key)",
            "cat /proc/$PPID/root\(key)", "cat /proc/self/cwd/state/daemon/key", "dd if=\(key)", "tac \(key)",
            // `mv` cannot rename the file into a different folder, and to copy the file it would have to read it.
            "mv \(key) documents/copy && cat documents/copy",
            "mv state documents/state && cat documents/state/daemon/key",
            "mv state/daemon state/other; cat state/other/key",
        ]
        for way in ways {
            #expect(await perform(way) != .done, "\(way)")
            let copy = try? String(contentsOfFile: home + "/documents/copy", encoding: .utf8)
            #expect(copy != "private", "\(way)")
        }
    }

    @Test(
        "A program cannot read the daemon's memory or descriptors",
        arguments: ["exec 3</proc/$PPID/mem", "readlink /proc/$PPID/fd/0"])
    func theDaemonItselfIsClosedAsWell(_ way: String) async {
        #expect(await EffectPerformer().perform(script(way)) == .done)
        #expect(await perform(way) != .done)
    }

    @Test("A key that is created after the program's start cannot be read")
    func aKeyThatComesLaterIsKeptToo() async throws {
        let waiting = Task {
            await perform("touch documents/ready; until [ -e \(password) ]; do sleep 0.01; done; cat \(password)")
        }
        while !FileManager.default.fileExists(atPath: home + "/documents/ready") {
            try await Task.sleep(for: .milliseconds(5))
        }
        try write("private", "configuration/password")
        #expect(await waiting.value.words.contains("ermission denied"))
    }

    @Test("A program can read and write everything that is not protected") func everythingElseIsAsItWas() async throws {
        let ordinary = [
            "cat note documents/letter state/plugs >/dev/null", "echo x >documents/new && cat documents/new",
            "echo x >>note",
            "mkdir directory documents/a documents/b && rmdir documents/a && mkdir documents/a && echo x >documents/a/f && mv documents/a/f documents/b && cat documents/b/f",
            "ls state/daemon | grep -qx key", "echo x | cat", "cat /proc/self/status >/dev/null",
            "echo x >new && rm new",
            "head -c 1 /dev/urandom >/dev/null", "[ \"$SMARTPLUG_DAEMON\" = \(home)/socket ]",
        ]
        for text in ordinary { #expect(await perform(text) == .done, "\(text)") }
    }

    @Test("A program cannot gain privileges") func aProgramGainsNoRights() async {
        #expect(await perform("grep -q 'NoNewPrivs:.1' /proc/self/status") == .done)
    }

    /// After programs have been started in a sandbox, all threads of this process can still read the key.
    @Test("The daemon itself is not restricted") func theDaemonItselfStaysOutside() async {
        for _ in 0..<20 { #expect(await perform("exit 0") == .done) }
        let readings = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { FileManager.default.contents(atPath: key) != nil } }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(readings.count == 200 && readings.allSatisfy(\.self))
    }

    @Test("A configuration with keep_keys = false disables the protection")
    func aConfigurationMayDoWithoutIt() async throws {
        let limits = try OutsideLimits(Array("[outside]\nkeep_keys = false\n".utf8), file: "f", home: home)
        let outside = EffectPolicy(limits: [limits], keeping: Secrets(files: [key]))
        #expect(await EffectPerformer(outside: outside).perform(script("cat \(key)")) == .done)
    }
}
