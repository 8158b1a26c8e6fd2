import Foundation
import LinuxSystem
import Testing

@testable import Effects

@Suite("Mail messages") struct MailMessageTests {
    private func message(_ title: String, _ text: String) -> String {
        let event = EffectEvent(request(.notify(title: title, text: text)))
        // 2026-11-23T00:45:20Z
        let date = WallTime(nanosecondsSince1970: 1_795_394_720_000_000_000)
        let mail = MailMessage(
            from: "plugs@example.org", to: ["a@example.org", "root"],
            notification: RuleNotification(title: title, text: text, event: event), date: date, offset: 3600)
        return String(decoding: mail.bytes, as: UTF8.self)
    }

    @Test("A short ASCII text is sent unencoded") func plainWordsGoAsTheyAre() {
        let expected = """
            Date: Mon, 23 Nov 2026 01:45:20 +0100
            From: plugs@example.org
            To: a@example.org,
             root
            Subject: Laundry
            Message-ID: <\(String(repeating: "a5", count: 16))@smartplug.invalid>
            Auto-Submitted: auto-generated
            MIME-Version: 1.0
            Content-Type: text/plain; charset=utf-8
            Content-Transfer-Encoding: 7bit

            It is done.
            .

            --\u{20}
            Laundry "done": Washer fell below 5 W (now 2.5 W)

            """
        #expect(message("Laundry", "It is done.\r\n.") == expected)
    }

    @Test("A title with line breaks adds no header field") func aTitleAddsNoField() {
        let lines = message("Tea\r\nBcc: x@example.org\n\nbody", "text").split(separator: "\n")
        #expect(lines.contains("Subject: Tea  Bcc: x@example.org  body"))
        #expect(!lines.contains { $0.hasPrefix("Bcc") })
    }

    @Test("A text that is not ASCII is encoded") func otherLettersAreEncoded() throws {
        let title = "Wäsche fertig: " + String(repeating: "😀", count: 30)
        let text = "Die Wäsche ist fertig.\n" + String(repeating: "x", count: 2000)
        let whole = message(title, text)
        #expect(whole.utf8.allSatisfy { $0 < 0x80 } && !whole.contains("\r"))
        #expect(whole.split(separator: "\n", omittingEmptySubsequences: false).allSatisfy { $0.utf8.count <= 76 })
        #expect(whole.contains("Content-Transfer-Encoding: base64\n"))
        let end = try #require(whole.range(of: "\n\n"))
        let body = try #require(
            Data(base64Encoded: String(whole[end.upperBound...]), options: .ignoreUnknownCharacters))
        #expect(String(decoding: body, as: UTF8.self).hasPrefix(text + "\n\n-- \n"))
    }

    @Test("An encoded word has at most 75 characters and splits no character")
    func aWordHasAtMost75CharactersAndWholeLetters() throws {
        let text = String(repeating: "aä€😀", count: 20)
        for column in [0, 9, 30] {
            let words = EncodedWords.encode(text, after: column, separator: " ").split(separator: " ")
            #expect(words.allSatisfy { $0.utf8.count <= 75 } && words[0].utf8.count + column <= 76)
            let decoded = try words.map { word in
                let data = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
                return try #require(String(validating: data, as: UTF8.self))
            }
            #expect(decoded.joined() == text)
        }
    }

    @Test("Text that looks like an encoded word is encoded") func whatOnlyLooksEncodedIsEncoded() {
        #expect(EncodedWords.encode("a plain title?", separator: " ") == "a plain title?")
        #expect(EncodedWords.encode("=?UTF-8?B?eA==?=", separator: " ") == "=?UTF-8?B?PT9VVEYtOD9CP2VBPT0/PQ==?=")
        #expect(EncodedWords.encode("a\nb", separator: " ") == "=?UTF-8?B?YQpi?=")
        #expect(EncodedWords.encode("", separator: " ").isEmpty)
    }
}
