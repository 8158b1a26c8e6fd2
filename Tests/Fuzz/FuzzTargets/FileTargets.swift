import Appliance
import PlugClient
import PlugModel
import PlugProtocol
import Recordings
import RuleFiles
import Storage
import TestSupport

extension FuzzTarget {
    /// Parses a rule file. It is accepted, or rejected with places in its text.
    static let ruleFile = FuzzTarget(
        name: "rule-file",
        seeds: { ruleFiles.map { Array($0.utf8) } },
        check: { bytes in
            let file: RuleFile
            do throws(RuleFileError) {
                file = try RuleFile(name: "fuzzed.yaml", text: String(decoding: bytes, as: UTF8.self))
            } catch {
                try require(!error.diagnostics.isEmpty && !error.description.isEmpty, "rejected without a reason")
                for diagnostic in error.diagnostics {
                    try require(
                        diagnostic.place.line >= 1 && diagnostic.place.column >= 1 && !diagnostic.message.isEmpty,
                        "\(diagnostic) has no place")
                }
                return false
            }
            try require(file.rules.count == file.places.count, "a rule without places")
            for (rule, places) in zip(file.rules, file.places) {
                // Every part that a report can mention has a place in the text.
                for index in rule.actions.indices {
                    try require(places.place(of: .action(index)).line >= 1, "an action has no place")
                }
                for index in rule.conditions.indices {
                    try require(places.place(of: .condition(index)).line >= 1, "a condition has no place")
                }
            }
            return true
        })

    /// Parses a recording, decompressed if necessary, and checks the consistency of the result.
    static let recording = FuzzTarget(
        name: "recording",
        seeds: {
            [
                "21/01/2012 00:00:08;45;43\n21/01/2012 11:14:07;102;45\n", "0.5,10\n2,20.25\n3.0004,-1.04\n",
                "time;watts\n2026-11-20T07:00;12,5\n20.11.2026 07:01:00;1.5\n",
                "\"25/10/2026 02:59:58\",\"1\"\n\n\"25/10/2026 02:00:00\",2\n",
            ]
            .map { Array($0.utf8) } + [compressed]
        },
        check: { bytes in
            guard let recorded = try? RecordedLines.parse(bytes) else {
                try require((try? Recording.parse(bytes)) == nil, "a recording without lines")
                return false
            }
            let numbers = recorded.lines.map(\.number)
            try require(
                zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
                    && numbers.allSatisfy { 1...recorded.count ~= $0 },
                "the line numbers are out of order")
            let counted = numbers.count + recorded.empty + recorded.unreadable + (recorded.header == nil ? 0 : 1)
            try require(recorded.count == counted, "\(counted) of \(recorded.count) lines are accounted for")
            try require((recorded.firstEmpty != nil) == (recorded.empty > 0), "the first empty line has no place")
            try require((recorded.firstFault != nil) == (recorded.unreadable > 0), "the first fault has no place")
            guard let recording = try? Recording.parse(bytes) else { return true }
            try require(Recording(points: recording.points, day: recording.day) == recording, "the recording changes")
            return true
        })

    /// Parses a controller's list of paired plugs. It is accepted and unchanged when written again, or rejected with a
    /// valid line number.
    static let pairedPlugs = FuzzTarget(
        name: "paired-plugs",
        seeds: {
            let lamp = PairedPlugs.Entry(id: PlugID(rawValue: "0123456789ab")!, key: .plug, name: "Living Room Lamp")
            let fan = PairedPlugs.Entry(id: PlugID(rawValue: "ffffffffffff")!, key: .stranger, name: "\u{301} Küche")
            return [PairedPlugsText.bytes(of: [lamp, fan])]
        },
        check: { bytes in
            let plugs: [PairedPlugs.Entry]
            do throws(PairedPlugsText.DamagedLine) {
                plugs = try PairedPlugsText.parse(bytes)
            } catch {
                let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
                try require((1...lines).contains(error.number), "line \(error.number) of \(lines) is damaged")
                return false
            }
            let again = try PairedPlugsText.parse(PairedPlugsText.bytes(of: plugs))
            try require(again == plugs, "the plugs change")
            return !plugs.isEmpty
        })

    /// Parses the address of a plug, which the user wrote or a file contains. An accepted address is one word, and is
    /// unchanged when written again.
    static let plugAddress = FuzzTarget(
        name: "plug-address",
        seeds: {
            ["lamp.example.org", "192.0.2.7:65535", "[fe80::7%eth0]:4711", "2001:db8::7", "a_b-1.example.:7001"].map {
                Array($0.utf8)
            }
        },
        check: { bytes in
            guard let address = try? PlugAddress(String(decoding: bytes, as: UTF8.self)) else { return false }
            try require((try? PlugAddress("\(address)")) == address, "the address changes")
            try require(
                address.port > 0 && !address.host.isEmpty
                    && address.host.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "the address is not one word")
            return true
        })

    /// Parses a plug's list of paired controllers.
    static let controllers = FuzzTarget(
        name: "controllers",
        seeds: {
            let all = [(PublicKey.desk, "Desk; 100 %"), (.stranger, "\n\u{301}")].map { key, name in
                PairedControllers.Controller(key: key, name: name)
            }
            return [PairedControllers(all), PairedControllers()].map { Array(ControllersText.text($0).utf8) }
        },
        check: { bytes in
            guard let list = ControllersText.parse(String(decoding: bytes, as: UTF8.self)) else { return false }
            let text = ControllersText.text(list)
            try require(ControllersText.parse(text) == list, "the list changes")
            try require(list.all.count <= PairedControllers.limit && !text.contains("\n"), "invalid list")
            return true
        })

    /// Parses lines of the audit log, to which the correct checksums are added. Valid entries are unchanged when
    /// written again, and a plug continues its log with them.
    static let auditFile = FuzzTarget(
        name: "audit-file",
        seeds: {
            let actors: [AuditActor] = [.controller(name: "Küche; %", key: "0123456789ab"), .stranger(key: ""), .plug]
            let entries = actors.enumerated().map { index, actor in
                let note = AuditNote(AuditNote.Kind.allCases[index * 4], by: actor, isRefused: index == 1, "a to b")
                return AuditEntry(
                    number: UInt64(index + 1), boot: FuzzedPlug.boot, time: FuzzedPlug.now, note, count: 3)
            }
            return [entries.flatMap { AuditFile.line($0).dropLast(10) + [UInt8(ascii: "\n")] }]
        },
        check: { bytes in
            let content = AuditFile.parse(
                bytes.split(separator: UInt8(ascii: "\n")).flatMap { AuditFile.summed($0) })
            let again = AuditFile.parse(AuditFile.bytes(of: content.entries))
            try require(again.entries == content.entries && again.spoiled == 0, "the entries change")
            let log = AuditLog(content.entries, lines: content.entries.count)
            try require(
                log.entries.count <= AuditLog.doneLimit + AuditLog.refusalLimit + AuditLog.reachabilityLimit
                    && Set(log.entries.map(\.number)).count == log.entries.count, "too many or equal entries")
            var machine = PlugMachine(
                ApplianceConfiguration(), identity: FuzzedPlug.prepared.server.identity, access: .knowing(), audit: log)
            let actions = machine.handle(.started, now: FuzzedPlug.now)
            let isNoted = actions.contains { if case .keepAudit = $0 { true } else { false } }
            // The log has an entry for a firmware version, or the plug adds one. The plug cannot add one after the
            // highest number.
            try require(
                isNoted || log.entries.contains { $0.note.kind == .firmware || $0.number == AuditEntry.highestNumber },
                "a plug cannot continue the log")
            return !content.entries.isEmpty
        })

    private static let ruleFiles = [
        """
        - rule: Movie night
          when:
            plug: Television
            active power: { rises above: 40 W, for: 3 s, hysteresis: 5 W }
          if:
            - time: { after: "17:00", before: "02:00" }
            - plug: Lamp
              relay: on
          then:
            - turn off: [Ceiling Light, Floor Lamp]
            - turn on: Amplifier
            - dim: { plug: Lamp, to: 30 %, over: 2 s }
          cooldown: 1 min
        """,
        """
        - { rule: A, when: { plug: &p "Kettle", button: long }, then: { toggle: *p } }
        - rule: 'B'
          when: [{ plug: Kettle, button: double }, { plug: TV, active power: { falls below: 1.5 kW } }]
          then: [turn off: TV]
        """,
        """
        - rule: All of it
          when:
            - { plug: TV, active power: { stays between: [5 W, 1.5kW], for: 2 d } }
            - { plug: TV, active energy: { exceeds: 2 kWh, since: day } }
            - { plug: P, connection: lost, for: 2 min }
            - { plug: P, appliance: finished, cycle: programme }
            - { time: "07:30", weekdays: [mon, sunday] }
            - { cron: "*/15 6-9,20 1-31/2 jan * " }
            - { sun: sunset, offset: -30 min }
          if:
            - any: [{ plug: L, level: { above: 30 % } }, { not: { time: { after: { sunset: 1 h } } } }]
          then:
            - turn on: { plug: Fan, for: 15 min }
            - wait until: { plug: X, relay: off }
              timeout: 5 min
              otherwise: go on
            - notify: { title: T, text: "{plug} {why}" }
            - run: { command: [logger, "a b"], timeout: 10 s }
            - web hook: { url: "https://h/x", method: PUT, body: "{}" }
          mode: { queued: 5 }
          limit: { firings: 6, per: 1 h }
          late: { accept: 10 min }
          away: remember
        """,
    ]

    /// `0,10` and `1,2000`, each with a newline, compressed with xz.
    private static let compressed: [UInt8] = [
        0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x01, 0x69, 0x22, 0xDE, 0x36, 0x02, 0x00, 0x21, 0x01, 0x16, 0x00,
        0x00, 0x00, 0x74, 0x2F, 0xE5, 0xA3, 0x01, 0x00, 0x0B, 0x30, 0x2C, 0x31, 0x30, 0x0A, 0x31, 0x2C, 0x32, 0x30,
        0x30, 0x30, 0x0A, 0x00, 0xF6, 0x9A, 0xF2, 0x95, 0x00, 0x01, 0x20, 0x0C, 0xA2, 0xDD, 0xB4, 0xBC, 0x90, 0x42,
        0x99, 0x0D, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5A,
    ]
}
