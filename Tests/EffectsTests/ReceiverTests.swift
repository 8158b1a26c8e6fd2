import Foundation
import TestSupport
import Testing

@testable import Effects

/// Uses real programs, and a local server that follows a script.
@Suite("Receivers of notifications") struct ReceiverTests {
    /// The time limit for a server that answers at once. The machine may be busy.
    private static let patience = Duration.seconds(240)
    private let notification = RuleNotification(
        title: "Wäsche", text: "It is done.", event: EffectEvent(request(.notify(title: "", text: ""))))

    /// Calls the body with the path of a folder that is deleted afterwards.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = TestFolder()
        try await body(folder.path)
    }

    private func write(_ path: String, _ text: String, mode: Int) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// Writes the file in a child process. Otherwise a program that another test starts at the same time could inherit
    /// the descriptor open for writing, and executing the file would fail (ETXTBSY).
    private func install(_ path: String, _ script: String) async {
        let words = ["sh", "-c", "cat >\"$0\" && chmod 755 \"$0\"", path]
        let input = Array("#!/bin/sh\n\(script)\n".utf8)
        #expect(await Command(words, timeout: .seconds(20), event: notification.event, input: input).run() == .done)
    }

    private func fault(_ receiver: some NotificationReceiver) async -> NotificationFault? {
        do throws(NotificationFault) {
            try await receiver.receive(notification)
            return nil
        } catch {
            return error
        }
    }

    @Test("ntfy gets the notification with its header fields") func ntfyGetsItWithItsFields() async throws {
        let server = try await ScriptedServer(ScriptedServer.reply("200 OK"))
        try await withFolder { folder in
            try write(folder + "/token", "tk_7eevizlsiwf\n", mode: 0o600)
            let receiver = NtfyReceiver(
                server: "http://127.0.0.1:\(server.port)", topic: "our-house",
                token: TokenFile(path: folder + "/token"),
                priority: .high, tags: "house,tv", timeout: Self.patience)
            #expect(await fault(receiver) == nil)
        }
        let heard = try #require(server.heard.first)
        #expect(heard.hasPrefix("POST /our-house HTTP/1.1\r\n") && heard.hasSuffix("\r\n\r\nIt is done."))
        for field in [
            "Title: =?UTF-8?B?V8Okc2NoZQ==?=", "Priority: high", "Tags: house,tv",
            "Authorization: Bearer tk_7eevizlsiwf",
            "Content-Type: text/plain; charset=utf-8",
        ] { #expect(heard.contains("\r\n\(field)\r\n"), "\(field) in \(heard)") }
        await server.close()
    }

    @Test("A refusal of ntfy is reported without the topic and the token")
    func aRefusalNamesNeitherTheTopicNorTheToken() async throws {
        let server = try await ScriptedServer(
            ScriptedServer.reply("403 Forbidden", body: "tk_secret may not write to our-house"),
            ScriptedServer.reply("503 Service Unavailable"), ScriptedServer.reply("429 Too Many Requests"))
        let address = "http://127.0.0.1:\(server.port)"
        try await withFolder { folder in
            try write(folder + "/token", "tk_secret", mode: 0o600)
            let receiver = NtfyReceiver(
                server: address, topic: "our-house", token: TokenFile(path: folder + "/token"), timeout: Self.patience)
            let refusal = await fault(receiver)
            #expect(refusal?.words == "\(address): status 403 Forbidden" && refusal?.isRetryable == false)
            #expect(refusal?.hint?.contains("token_file") == true)
            #expect(await fault(receiver)?.isRetryable == true)
            #expect(await fault(receiver)?.isRetryable == true)
        }
        await server.close()
        #expect(await fault(NtfyReceiver(server: address, topic: "our-house"))?.isRetryable == true)
    }

    @Test("A token file that other users can read is refused") func aTokenThatOthersCouldReadIsNotUsed() async throws {
        try await withFolder { folder in
            let path = folder + "/token"
            let receiver = NtfyReceiver(server: "http://127.0.0.1:9", topic: "x", token: TokenFile(path: path))
            #expect(await fault(receiver)?.words == "\(path) does not exist")
            try write(path, "tk_secret", mode: 0o644)
            let exposed = await fault(receiver)
            #expect(exposed?.words.contains("other users have access") == true && exposed?.isRetryable == false)
            #expect(exposed?.hint?.contains("chmod 600") == true)
            for text in ["tk_secret\r\nX-Other: 1", " \n", "two words"] {
                try write(path, text, mode: 0o600)
                #expect(await fault(receiver)?.words == "\(path) has no token")
            }
        }
    }

    @Test("A message that is too long for ntfy is cut") func aLongMessageIsCut() async throws {
        let server = try await ScriptedServer(ScriptedServer.reply("200 OK"))
        let receiver = NtfyReceiver(server: "http://127.0.0.1:\(server.port)", topic: "x", timeout: Self.patience)
        var long = notification
        long.text = String(repeating: "€", count: 3000)
        try await receiver.receive(long)
        let body = try #require(server.heard.first?.components(separatedBy: "\r\n\r\n").last)
        #expect(body.utf8.count <= 4096 && body.utf8.count > 4090 && body.hasSuffix("€…"))
        await server.close()
    }

    @Test("sendmail gets the mail on its standard input") func sendmailGetsTheMail() async throws {
        try await withFolder { folder in
            let program = folder + "/sendmail"
            await install(program, "echo \"$@\" >\(folder)/words\ncat >\(folder)/mail")
            #expect(await fault(MailReceiver(program: program, to: ["a@example.org"])) == nil)
            #expect(try String(contentsOfFile: folder + "/words", encoding: .utf8) == "-t -i\n")
            let mail = try String(contentsOfFile: folder + "/mail", encoding: .utf8)
            #expect(
                mail.contains("\nTo: a@example.org\nSubject: =?UTF-8?B?V8Okc2NoZQ==?=\n") && !mail.contains("From:"))
        }
    }

    @Test(
        "The exit status of sendmail decides about a retry",
        arguments: [(75, true), (69, true), (68, true), (1, true), (67, false), (64, false), (78, false)])
    func whatSendmailSaysDecidesWhetherItIsTriedAgain(_ status: Int, _ isRetryable: Bool) async throws {
        try await withFolder { folder in
            let program = folder + "/sendmail"
            await install(program, "echo 'no such user' >&2\nexit \(status)")
            let told = await fault(MailReceiver(program: program, to: ["a@example.org"]))
            #expect(told?.words == "\(program) ended with status \(status): no such user")
            #expect(told?.isRetryable == isRetryable)
        }
    }

    @Test("A missing program is not retried") func aMissingProgramIsNotLookedForAgain() async {
        let mail = await fault(MailReceiver(program: "/no/such/sendmail", to: ["a@example.org"]))
        #expect(mail?.isRetryable == false && mail?.hint?.contains("sendmail") == true)
        let command = await fault(CommandReceiver(words: ["/no/such/program"]))
        #expect(command?.isRetryable == false && command?.words.contains("cannot be started") == true)
    }

    @Test("A command gets the title and the text of the notification")
    func aCommandGetsTheEventWithTheWords() async throws {
        try await withFolder { folder in
            let script =
                "cat >\(folder)/event; printf '%s|%s' \"$SMARTPLUG_TITLE\" \"$SMARTPLUG_TEXT\" >\(folder)/words"
            #expect(await fault(CommandReceiver(words: ["sh", "-c", script])) == nil)
            let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/event"))
            let event = try JSONDecoder().decode(EffectEvent.self, from: data)
            #expect(event.title == "Wäsche" && event.text == "It is done." && event.plug == "Washer")
            #expect(try String(contentsOfFile: folder + "/words", encoding: .utf8) == "Wäsche|It is done.")
        }
        let failed = await fault(CommandReceiver(words: ["sh", "-c", "exit 3"]))
        #expect(failed == NotificationFault("sh ended with status 3", isRetryable: true))
        let slow = await fault(CommandReceiver(words: ["sleep", "60"], timeout: .milliseconds(200)))
        #expect(slow?.words.contains("took longer than 0.2 s") == true && slow?.isRetryable == true)
    }

    @Test("The text of a desktop notification is escaped") func whatStandsInANotificationIsNoMarkup() {
        #expect(DesktopReceiver.escaped(#"a <b>bold</b> & "c:\n""#) == #"a &lt;b&gt;bold&lt;/b&gt; &amp; "c:\\n""#)
    }
}
