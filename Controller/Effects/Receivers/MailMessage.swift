import Foundation
import LinuxClocks

/// A notification as a mail (RFC 5322), with the line ends that sendmail reads: it makes those of the wire itself.
struct MailMessage: Sendable {
    var from: String?
    var to: [String]
    var notification: RuleNotification
    var date: WallTime
    /// Seconds that local time is ahead of UTC.
    var offset: Int

    /// Characters of a line that goes as it is. RFC 5322 section 2.1.1 has 998 as the most, and 78 as what should be.
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
            // The same where it comes again because the controller was killed: mail boxes show it once.
            ("Message-ID", "<\(notification.event.id)@smartplug.invalid>"),
            // RFC 3834: nobody's absence is to be told to a plug.
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

    /// What the rule says, and what happened below it.
    private var body: String {
        let event = notification.event
        let said = "\(notification.text)\n\n-- \n\(event.rule): \(event.why)\n"
        // A line ends as all others do, and a zero byte ends no text.
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

    /// `Mon, 23 Nov 2026 01:45:20 +0100`
    private var writtenDate: String {
        // Whole minutes, as the offset is written.
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
