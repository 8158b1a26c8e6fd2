import Foundation
import LinuxSystem

/// A notification as a mail (RFC 5322). Lines end with LF, as sendmail reads them; sendmail converts them to CRLF.
struct MailMessage: Sendable {
    var from: String?
    var to: [String]
    var notification: RuleNotification
    var date: WallTime
    /// The seconds that local time is ahead of UTC.
    var offset: Int

    /// The longest line that is sent unencoded. RFC 5322 section 2.1.1 recommends at most 78 characters and allows 998.
    private static let longestLine = 78
    private static let foldingSpace = "\n "

    var bytes: [UInt8] {
        let body = self.body
        let isPlain = body.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x09 }
        let isShort = body.split(separator: "\n").allSatisfy { $0.utf8.count <= Self.longestLine }
        var fields = [
            ("Date", writtenDate), ("To", to.joined(separator: "," + Self.foldingSpace)),
            (
                "Subject",
                EncodedWords.encode(notification.headline, after: "Subject: ".count, separator: Self.foldingSpace)
            ),
            // The id stays the same if the mail is sent again because the controller was killed, so a mail program can
            // detect the duplicate.
            ("Message-ID", "<\(notification.event.id)@smartplug.invalid>"),
            // RFC 3834: this prevents automatic replies, such as vacation notices.
            ("Auto-Submitted", "auto-generated"), ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", isPlain && isShort ? "7bit" : "base64"),
        ]
        if let from { fields.insert(("From", from), at: 1) }
        let head = fields.map { "\($0.0): \($0.1)\n" }.joined()
        let encoded =
            isPlain && isShort
            ? body
            : Data(body.utf8).base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed]) + "\n"
        return Array((head + "\n" + encoded).utf8)
    }

    /// The rule's text, then the cause of the firing.
    private var body: String {
        let event = notification.event
        let said = "\(notification.text)\n\n-- \n\(event.rule): \(event.why)\n"
        // All lines end with LF, and a zero byte must not end the text.
        let plain = said.unicodeScalars.compactMap { scalar -> UnicodeScalar? in
            switch scalar {
            case "\n", "\t": scalar
            case "\r": nil
            case _ where scalar.properties.generalCategory == .control: " "
            case _: scalar
            }
        }
        return String(String.UnicodeScalarView(plain))
    }

    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The date as in `Mon, 23 Nov 2026 01:45:20 +0100`.
    private var writtenDate: String {
        // The zone is written in whole minutes, so the time is computed with the same offset in whole minutes.
        let minutes = offset / 60
        let written = date.iso8601(offset: minutes * 60)
        let numbers = written.split { !$0.isNumber }.compactMap { Int($0) }
        let days = (date.nanosecondsSince1970 / 1_000_000_000 + Int64(minutes * 60)) / 86_400
        let weekday = Self.weekdays[Int(days % 7 + 7) % 7]
        let zone = (minutes < 0 ? "-" : "+") + Self.padded(abs(minutes) / 60) + Self.padded(abs(minutes) % 60)
        let time = numbers[3...5].map(Self.padded).joined(separator: ":")
        return "\(weekday), \(numbers[2]) \(Self.months[numbers[1] - 1]) \(numbers[0]) \(time) \(zone)"
    }

    private static func padded(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
}
