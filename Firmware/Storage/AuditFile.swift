import Appliance
package import PlugModel
import ProtocolCore

/// The format of the file `audit`: one line per entry with tab-separated fields: number, boot in hexadecimal digits,
/// milliseconds since boot, kind, `done` or `refused`, count, actor with its key's digits after a colon, name, detail,
/// and the CRC-32 of all previous fields in hexadecimal digits. If several lines have the same number, the last one
/// counts.
package enum AuditFile {
    /// The limit of the file in bytes: 1,500 lines of 356 bytes, with every name and detail at its maximum length. The
    /// usual size is a quarter.
    package static let limit = 540_000
    private static let tab = UInt8(ascii: "\t")
    private static let newline = UInt8(ascii: "\n")

    /// Returns the lines of the entries.
    package static func bytes(of entries: [AuditEntry]) -> [UInt8] { entries.flatMap { line($0) } }

    /// Returns the line of an entry.
    package static func line(_ entry: AuditEntry) -> [UInt8] {
        let (actor, name) = fields(of: entry.note.actor)
        let boot = entry.boot.bytes.flatMap(EscapedText.hexadecimal)
        let fields = [
            "\(entry.number)", String(decoding: boot, as: UTF8.self), "\(entry.time.nanoseconds / 1_000_000)",
            entry.note.kind.rawValue, entry.note.isRefused ? "refused" : "done", "\(entry.count)", actor, name,
            entry.note.detail,
        ]
        return summed(Array(fields.joined(separator: "\t").utf8)[...])
    }

    /// Returns the fields as a line with its checksum.
    package static func summed(_ text: ArraySlice<UInt8>) -> [UInt8] {
        Array(text) + [tab] + checksum(text) + [newline]
    }

    /// The content of a file.
    package struct Content {
        /// The entries in the order of the lines.
        package var entries: [AuditEntry] = []
        /// The number of invalid lines.
        package var spoiled = 0
        /// True if the last line is complete.
        package var isWhole = true
    }

    /// Parses a file. Invalid lines are counted and skipped.
    package static func parse(_ bytes: [UInt8]) -> Content {
        var content = Content()
        content.isWhole = bytes.last == newline
        for line in bytes.split(separator: newline) {
            if let entry = entry(line) { content.entries.append(entry) } else { content.spoiled += 1 }
        }
        return content
    }

    private static func entry(_ line: ArraySlice<UInt8>) -> AuditEntry? {
        guard let end = line.lastIndex(of: tab), Array(line[(end + 1)...]) == checksum(line[..<end]) else { return nil }
        let fields = line[..<end].split(separator: tab, omittingEmptySubsequences: false)
            .compactMap { String(validating: $0, as: UTF8.self) }
        guard fields.count == 9, let number = UInt64(fields[0]), (1...AuditEntry.highestNumber).contains(number),
            let bytes = EscapedText.values(of: Substring(fields[1]).utf8), let boot = BootID(bytes: bytes),
            let milliseconds = Int64(fields[2]),
            (0...PlugWire.latestTime.nanoseconds / 1_000_000).contains(milliseconds),
            let kind = AuditNote.Kind(rawValue: fields[3]), ["done", "refused"].contains(fields[4]),
            let count = UInt32(fields[5]), count > 0, let actor = actor(fields[6], name: fields[7])
        else { return nil }
        let note = AuditNote(kind, by: actor, isRefused: fields[4] == "refused", fields[8])
        let time = Instant(nanoseconds: milliseconds * 1_000_000)
        return AuditEntry(number: number, boot: boot, time: time, note, count: count)
    }

    private static func fields(of actor: AuditActor) -> (actor: String, name: String) {
        switch actor {
        case .controller(let name, let key): ("controller:\(key)", name)
        case .stranger(let key): ("stranger:\(key)", "")
        case .button: ("button", "")
        case .panel: ("panel", "")
        case .broker: ("broker", "")
        case .homeKit: ("homekit", "")
        case .matter: ("matter", "")
        case .configuration: ("configuration", "")
        case .plug: ("plug", "")
        case .unknown: ("unknown", "")
        }
    }

    /// Parses an actor. Returns nil if the word is unknown. The name belongs to a controller.
    static func actor(_ word: String, name: String = "") -> AuditActor? {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return switch (parts[0], parts.dropFirst().first) {
        case ("controller", let key?): .controller(name: name, key: key)
        case ("stranger", let key?): .stranger(key: key)
        case ("button", nil): .button
        case ("panel", nil): .panel
        case ("broker", nil): .broker
        case ("homekit", nil): .homeKit
        case ("matter", nil): .matter
        case ("configuration", nil): .configuration
        case ("plug", nil): .plug
        case ("unknown", nil): .unknown
        default: nil
        }
    }

    private static func checksum(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let remainder = Checksum.crc32(Array(text).span)
        return [24, 16, 8, 0].flatMap { EscapedText.hexadecimal(UInt8(truncatingIfNeeded: remainder >> UInt32($0))) }
    }
}
