import Automation
import ConfigurationFiles
import Foundation
import Processes
import RuleModel
import TestSupport
import Testing

@testable import Effects

/// Only the programs and servers that every file allows are used. Other spellings in a rule do not bypass this.
@Suite("The limits of [outside]") struct OutsideLimitsTests {
    private static let file = "/etc/smartplug/daemon.toml"

    private func limits(_ text: String, file: String = file) throws(ConfigurationError) -> OutsideLimits {
        try OutsideLimits(Array("[outside]\n\(text)\n".utf8), file: file, home: "/home/a")
    }

    private func performer(_ texts: String...) throws -> EffectPerformer {
        EffectPerformer(outside: EffectPolicy(limits: try texts.map { try limits($0) }))
    }

    private func run(_ words: String...) -> EffectRequest { request(.run(words, timeout: .seconds(20))) }

    /// Creates two programs; each creates a file `NAME.ran` when it runs.
    private func withPrograms(_ body: (String) async throws -> Void) async throws {
        let folder = TestFolder()
        for name in ["allowed", "other"] {
            let path = "\(folder.path)/\(name)"
            try "#!/bin/sh\necho \"$0\" >\(path).ran\n".write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        try await body(folder.path)
    }

    private func hasRun(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + ".ran") }

    @Test("Without limits everything is allowed") func withoutAWordEverythingIsAllowed() async throws {
        #expect(try limits("") == OutsideLimits(file: Self.file))
        #expect(await EffectPerformer().perform(run("true")) == .done)
        #expect(try await performer("run = \"any\"").perform(run("true")) == .done)
    }

    @Test("run = \"off\" refuses all programs") func programsCanBeTurnedOff() async throws {
        let outcome = try await performer("run = \"off\"").perform(run("true"))
        #expect(outcome == .failed("true is not run: /etc/smartplug/daemon.toml has run = \"off\""))
        #expect(try await performer("run = []").perform(run("true")).words.contains("is not run"))
        #expect(try await performer("web_hooks = \"off\"").perform(run("true")) == .done)
    }

    @Test("Only listed programs run") func onlyProgramsOfTheListAreRun() async throws {
        try await withPrograms { folder in
            let performer = try performer("run = [\"\(folder)/allowed\"]")
            #expect(await performer.perform(run("\(folder)/allowed")) == .done)
            #expect(hasRun("\(folder)/allowed"))
            let refused = await performer.perform(run("\(folder)/other", "\(folder)/allowed"))
            #expect(
                refused == .failed("\(folder)/other is not run: /etc/smartplug/daemon.toml does not list it in run"))
            #expect(!hasRun("\(folder)/other"))
        }
    }

    @Test("Links, relative parts and other spellings do not bypass the list")
    func noOtherNameGetsAroundTheList() async throws {
        try await withPrograms { folder in
            let files = FileManager.default
            try files.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "\(folder)/allowed")
            try files.createDirectory(atPath: "\(folder)/inner", withIntermediateDirectories: false)
            try files.createSymbolicLink(atPath: "\(folder)/inner/allowed", withDestinationPath: "\(folder)/other")
            try files.createSymbolicLink(atPath: "\(folder)/way", withDestinationPath: "\(folder)/inner")
            let performer = try performer("run = [\"\(folder)/allowed\"]")
            let others = [
                "\(folder)/allowed/../other", "\(folder)/inner/../other", "\(folder)/inner/allowed",
                "\(folder)/way/allowed", "\(folder)/link", "\(folder)/allowed/", "\(folder)/allowed/.", "sh", "",
                "allowed", "./allowed", "\(folder)/ALLOWED", "\(folder)/allowed\u{0}",
            ]
            for name in others { #expect(await performer.perform(run(name)).words.contains("is not run"), "\(name)") }
            #expect(!hasRun("\(folder)/other") && !hasRun("\(folder)/allowed"))
        }
    }

    @Test("The folder of a listed program may be reached through links")
    func aFolderMayBeReachedInAnyWay() async throws {
        try await withPrograms { folder in
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/way", withDestinationPath: folder)
            let performer = try performer("run = [\"\(folder)/way/allowed\"]")
            #expect(await performer.perform(run("\(folder)/./way/allowed")) == .done)
            #expect(await performer.perform(run("\(folder)/allowed")) == .done)
        }
    }

    /// A file can act as a different program under each of its names: `/bin/busybox` is also a shell.
    @Test("Another link to the file of a listed program is refused")
    func aNameOfTheListIsNoneOfThoseThatLeadToTheSameFile() async throws {
        try await withPrograms { folder in
            for name in ["one", "two"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/\(name)", withDestinationPath: "\(folder)/allowed")
            }
            let performer = try performer("run = [\"\(folder)/one\"]")
            #expect(await performer.perform(run("\(folder)/one")) == .done)
            #expect(await performer.perform(run("\(folder)/two")).words.contains("is not run"))
        }
    }

    @Test("A name without a folder is searched in PATH, and the result is checked")
    func aNameWithoutAFolderIsLookedForAndThenJudged() async throws {
        let shell = try #require(ResolvedPath(ofProgram: "sh"))
        #expect(try await performer("run = [\"\(shell.path)\"]").perform(script("exit 0")) == .done)
        let refused = try await performer("run = [\"/usr/bin/mpv\"]").perform(script("exit 0"))
        #expect(refused.words.hasPrefix("sh, which is \(shell.path), is not run"))
        let missing = try await performer("run = [\"/usr/bin/mpv\"]").perform(run("no-such-program"))
        #expect(missing.words.hasPrefix("no-such-program, which was not found, is not run"))
    }

    @Test("A program must be allowed by every file") func everyFileHasToAllowIt() async throws {
        let shell = try #require(ResolvedPath(ofProgram: "sh")?.path)
        let first = try limits("run = [\"\(shell)\"]"), second = try limits("run = \"off\"", file: "/home/a/d.toml")
        for both in [[first, second], [second, first]] {
            let outcome = await EffectPerformer(outside: EffectPolicy(limits: both)).perform(script("exit 0"))
            #expect(outcome.words == "sh is not run: /home/a/d.toml has run = \"off\"")
        }
    }

    @Test("If a file of limits cannot be read, every program and every server is refused")
    func aFileThatCannotBeReadAllowsNothing() async throws {
        let outside = EffectPolicy(limits: [.unreadable(Self.file, "the settings are broken")])
        let performer = EffectPerformer(outside: outside)
        #expect(await performer.perform(run("true")).words == "true is not run: the settings are broken")
        let hook = request(.webHook(WebHook(url: "http://127.0.0.1:9/")))
        #expect(await performer.perform(hook).words == "127.0.0.1:9 is not called: the settings are broken")
    }

    @Test(
        "A server is compared by the host and port of the connection",
        arguments: [
            ("hooks.example.org", "https://hooks.example.org/x", true),
            ("hooks.example.org", "http://hooks.example.org", true),
            ("hooks.example.org", "https://HOOKS.example.org./x", true),
            ("Hooks.Example.org.", "https://hooks.example.org:443/x", true),
            ("hooks.example.org", "https://hooks.example.org:8443/x", false),
            ("hooks.example.org:8443", "https://hooks.example.org:8443/x", true),
            ("hooks.example.org:8443", "https://hooks.example.org/x", false),
            ("hooks.example.org", "https://evil.example.org/hooks.example.org", false),
            ("hooks.example.org", "https://hooks.example.org.evil.net/", false),
            ("hooks.example.org", "https://evil-hooks.example.org/", false),
            ("hooks.example.org", "https://evil.net/?hooks.example.org", false),
            ("hooks.example.org", "https://evil.net#hooks.example.org", false),
            // The host is normalized as for the connection: the Kelvin sign becomes a lower-case k (RFC 5895).
            ("hooks.example.org", "https://hoo\u{212A}s.example.org/", true),
            ("hooks.example.org", "https://h\u{043E}oks.example.org/", false),
            ("hooks.example.org", "https://hooks%2Eexample.org/", true),
            ("192.0.2.7:8123", "http://192.0.2.7:8123/api", true),
            ("192.0.2.7:8123", "http://192.0.2.7/api", false),
            ("192.0.2.7:8123", "http://0300.0.2.7:8123/api", false),
            ("127.0.0.1:80", "http://2130706433/", false), ("127.0.0.1:80", "http://127.1/", false),
            ("[2001:db8::7]:8123", "http://[2001:0db8:0:0::7]:8123/", true),
            ("2001:DB8::7", "http://[2001:db8::7]/", true),
            ("2001:db8::7", "http://[2001:db8::8]/", false), ("192.0.2.7", "http://[::ffff:192.0.2.7]/", false),
        ])
    func aServerIsJudgedAsItIsConnectedTo(_ allowed: String, _ url: String, _ isAllowed: Bool) throws {
        let outside = EffectPolicy(limits: [try limits("web_hooks = [\"\(allowed)\"]")])
        let rule = Rule(name: "r", triggers: [], actions: [.webHook(WebHook(url: url))])
        #expect(WebRequest.server(of: WebHook(url: url)) != nil || !isAllowed)
        if WebRequest.server(of: WebHook(url: url)) != nil { #expect(outside.findings([rule]).isEmpty == isAllowed) }
    }

    @Test("A server that is not allowed gets no request") func aServerThatIsNotAllowedHearsNothing() async throws {
        let server = try await ScriptedServer(ScriptedServer.reply("204 No Content"))
        let hook = request(.webHook(WebHook(url: "http://127.0.0.1:\(server.port)/secret-path")))
        for text in ["web_hooks = \"off\"", "web_hooks = [\"127.0.0.1\", \"localhost:\(server.port)\"]"] {
            let words = try await performer(text).perform(hook).words
            #expect(words.hasPrefix("127.0.0.1:\(server.port) is not called") && !words.contains("secret"))
        }
        #expect(server.heard.isEmpty)
        #expect(try await performer("web_hooks = [\"127.0.0.1:\(server.port)\"]").perform(hook) == .done)
        #expect(server.heard.count == 1)
        await server.close()
    }

    @Test("Actions that the limits refuse are reported as warnings") func whatRulesWantAndDoNotGetIsFound() throws {
        let outside = EffectPolicy(limits: [try limits("run = \"off\"\nweb_hooks = [\"a.example\"]")])
        let rules = [
            Rule(name: "a", triggers: [], actions: [.wait(.seconds(1)), .run(["true"], timeout: .seconds(1))]),
            Rule(
                name: "b", triggers: [],
                actions: [.webHook(WebHook(url: "http://a.example/")), .webHook(WebHook(url: "http://b.example/s"))]),
        ]
        let found = outside.findings(rules)
        #expect(found.map(\.rule) == [0, 1] && found.map(\.part) == [.action(1), .action(1)])
        #expect(found.allSatisfy { $0.severity == .warning && $0.hint != nil && !$0.message.contains("b.example/s") })
    }

    @Test("A list may have several lines") func aListMayStandOnSeveralLines() throws {
        let read = try limits("run = [\n  \"/usr/bin/mpv\", # music\n  \"~/bin/blink\",\n]\nkeep_keys = false")
        #expect(read.programs == .only(["/usr/bin/mpv", "/home/a/bin/blink"]))
        #expect(read.servers == .any && read.keepsKeys == false)
    }

    @Test(
        "A mistake is reported with its line",
        arguments: [
            ("[outside]\nrun = \"on\"\n", "2: [outside] run: expected \"any\", \"off\" or a list of programs"),
            (
                "[outside]\nrun = [\"/bin/a\",\n\"b\",\n\"/bin/c/\"]\n",
                "3: [outside] run: \"b\" is not the path of a program"
            ),
            ("[outside]\nrun = [\"/bin/a\",\n\"b\",\n\"/bin/c/\"]\n", "4: [outside] run: \"/bin/c/\" is not the path"),
            ("[outside]\nrun = [1]\n", "2: [outside] run: expected"),
            (
                "[outside]\nweb_hooks = [\"https://a.example\"]\n",
                "2: [outside] web_hooks: \"https://a.example\" is not a server"
            ),
            ("[outside]\nweb_hooks = [\"a.example:0\"]\n", "2: [outside] web_hooks: \"a.example:0\" is not a server"),
            ("[outside]\nweb_hooks = [\"[::1\"]\n", "2: [outside] web_hooks: \"[::1\" is not a server"),
            ("[outside]\nkeep_keys = 1\n", "2: [outside] keep_keys: expected true or false"),
            ("[outside]\nweb_hoks = \"off\"\n", "2: [outside] web_hoks: unknown key; did you mean web_hooks?"),
            ("[outsid]\nrun = \"off\"\n", "1: [outsid]: unknown table; did you mean [outside]?"),
            ("run = \"off\"\n", "1: run: this key is before the first table"),
            ("[outside]\nrun = [\"/bin/a\"\n", "2:"),
        ])
    func whatIsWrongIsSaidWithItsLine(_ text: String, _ words: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try OutsideLimits(Array(text.utf8), file: Self.file, home: "/home/a")
        }
        let told = try #require(error.map { "\($0)" })
        #expect(told.split(separator: "\n").contains { $0.hasPrefix("\(Self.file):\(words)") }, "\(told)")
    }

    @Test("List entries above the limit are reported as one mistake") func thereAreNotTooManyInAList() throws {
        let list = [String](repeating: "\"/bin/a\"", count: OutsideLimits.listLimit + 1).joined(separator: ",")
        let error = #expect(throws: ConfigurationError.self) { try limits("run = [\(list)]") }
        #expect(error?.mistakes.count == 1)
    }

    @Test("Keys are protected by default, and keep_keys = true in any file overrides keep_keys = false")
    func keysAreKeptUnlessSomebodySaysOtherwise() throws {
        let keep = try limits("keep_keys = true"), open = try limits("keep_keys = false"), silent = try limits("")
        #expect(EffectPolicy.keepsKeys([]) && EffectPolicy.keepsKeys([silent]) && EffectPolicy.keepsKeys([keep, open]))
        #expect(!EffectPolicy.keepsKeys([open]) && !EffectPolicy.keepsKeys([silent, open]))
    }
}
