import ConfigurationFiles
import Testing

@testable import Effects

@Suite("The settings of notifications") struct NotificationSettingsTests {
    private func read(_ text: String) throws(ConfigurationError) -> [NamedReceiver] {
        let file = "/etc/smartplug/notifications.toml"
        return try NotificationSettings(Array(text.utf8), file: file, home: "/home/a").receivers
    }

    private static let everybody = """
        [desk]
        kind = "desktop"
        urgency = "critical"

        [phone]
        kind = "ntfy"
        server = "https://ntfy.example.org/"
        topic = "our-house_7f3a"
        token_file = "ntfy-token"
        priority = "high"
        tags = "house,tv"
        per_minute = 3

        [letters]
        kind = "mail"
        to = "a@example.org, root"
        from = "plugs@example.org"
        sendmail = "~/bin/sendmail"

        [lamp]
        kind = "command"
        command = "blink --text 'two words' ''"
        timeout = 1.5
        """

    @Test("The token files of the receivers are secrets")
    func tokenFilesAreSecrets() throws {
        #expect(try read(Self.everybody).flatMap(\.secretPaths) == ["/etc/smartplug/ntfy-token"])
    }

    @Test("Each table is a receiver") func eachTableIsAReceiver() throws {
        let receivers = try read(Self.everybody)
        #expect(receivers.map(\.name) == ["desk", "phone", "letters", "lamp"])
        #expect(receivers.map(\.kind) == [.desktop, .ntfy, .mail, .command])
        #expect(receivers.map(\.perMinute) == [10, 3, 10, 10])
        #expect(receivers[0].receiver as? DesktopReceiver == DesktopReceiver(urgency: .critical))
        let phone = NtfyReceiver(
            server: "https://ntfy.example.org", topic: "our-house_7f3a",
            token: TokenFile(path: "/etc/smartplug/ntfy-token"), priority: .high, tags: "house,tv")
        #expect(receivers[1].receiver as? NtfyReceiver == phone)
        let letters = MailReceiver(
            program: "/home/a/bin/sendmail", from: "plugs@example.org", to: ["a@example.org", "root"])
        #expect(receivers[2].receiver as? MailReceiver == letters)
        let lamp = CommandReceiver(words: ["blink", "--text", "two words", ""], timeout: .milliseconds(1500))
        #expect(receivers[3].receiver as? CommandReceiver == lamp)
    }

    @Test("Optional keys have defaults") func littleNeedBeSaid() throws {
        let receivers = try read("[a]\nkind = \"desktop\"\n[b]\nkind = \"ntfy\"\ntopic = \"x\"\n")
        #expect(receivers[0].receiver as? DesktopReceiver == DesktopReceiver())
        #expect(receivers[1].receiver as? NtfyReceiver == NtfyReceiver(server: "https://ntfy.sh", topic: "x"))
        #expect(try read("# nobody\n").isEmpty)
    }

    @Test(
        "A mistake is reported with its line",
        arguments: [
            ("[a]\n", "1: [a]: missing: kind"),
            ("[a]\nkind = \"pager\"\n", "2: [a] kind: expected \"desktop\", \"ntfy\", \"mail\" or \"command\""),
            ("[a]\nkind = \"desktop\"\ntopic = \"x\"\n", "3: [a] topic: only kind = \"ntfy\" has this key"),
            ("[a]\nkind = \"desktop\"\nurgncy = \"low\"\n", "3: [a] urgncy: unknown key; did you mean urgency?"),
            ("[a]\nkind = \"ntfy\"\n", "1: [a]: missing: topic"),
            ("[a]\nkind = \"ntfy\"\ntopic = \"a/b\"\n", "3: [a] topic: a topic consists of"),
            ("[a]\nkind = \"ntfy\"\ntopic = \"x\"\nserver = \"ntfy.sh\"\n", "4: [a] server: it must begin with"),
            (
                "[a]\nkind = \"ntfy\"\ntopic = \"x\"\nserver = \"https://a:b@h\"\n",
                "4: [a] server: it must not contain a user"
            ),
            ("[a]\nkind = \"ntfy\"\ntopic = \"x\"\ntoken = \"tk_secret\"\n", "4: [a] token: put the token into a file"),
            ("[a]\nkind = \"mail\"\n", "1: [a]: missing: to"),
            ("[a]\nkind = \"mail\"\nto = \"a@b, c d\"\n", "3: [a] to: \"c d\" is not a plain address"),
            ("[a]\nkind = \"mail\"\nto = \"a@b\\nBcc: c@d\"\n", "3: [a] to: "),
            ("[a]\nkind = \"mail\"\nto = \"-f@b\"\n", "3: [a] to: "),
            ("[a]\nkind = \"mail\"\nto = \"a@b\"\nfrom = \"x <y@z>\"\n", "4: [a] from: "),
            ("[a]\nkind = \"command\"\ncommand = \"a 'b\"\n", "3: [a] command: a single quote is not closed"),
            ("[a]\nkind = \"command\"\ncommand = \" \"\n", "3: [a] command: missing"),
            ("[a]\nkind = \"command\"\ncommand = [\"a\"]\n", "3: [a] command: expected a program"),
            ("[a]\nkind = \"desktop\"\nper_minute = 0\n", "3: [a] per_minute: 0 is out of range"),
            ("kind = \"desktop\"\n", "1: kind: this key is before the first table"),
            ("[a\n", "1:"),
        ])
    func whatIsWrongIsSaidWithItsLine(_ text: String, _ words: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        let told = try #require(error.map { "\($0)" })
        #expect(
            told.split(separator: "\n").contains { $0.hasPrefix("/etc/smartplug/notifications.toml:\(words)") },
            "\(told)")
        #expect(!told.contains("secret") && !told.contains("a:b"))
    }

    @Test("Receivers above the limit are reported as one mistake") func thereAreNotTooMany() {
        let text = (0..<17).map { "[a\($0)]\nkind = \"desktop\"\n" }.joined()
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(error?.mistakes.count == 1)
    }
}
