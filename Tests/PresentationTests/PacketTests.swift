import DNSWire
import LinuxNetwork
import MulticastDNS
import Presentation
import ProtocolCore
import Terminal
import TestSupport
import Testing

/// The exact output of `plugctl browse --packets`.
@Suite struct PacketTests {
    private let lamp: Name = "Living Room Lamp._smartplug._tcp.local"

    private func heard(_ bytes: [UInt8], port: UInt16 = 5353) -> HeardPacket {
        HeardPacket(
            time: moment, interface: 2, source: Peer(address: .v4(IPv4Address(192, 0, 2, 7)), port: port),
            destination: .v4(RFC6762.groupV4), bytes: bytes)
    }

    private func record(_ bytes: [UInt8], port: UInt16 = 5353) -> PacketRecord {
        PacketRecord(heard(bytes, port: port)) { $0 == 2 ? "wlan0" : nil }
    }

    private func bytes(_ message: Message) throws -> [UInt8] { try message.encoded() }

    private var query: Message {
        Message(
            flags: .truncated, questions: [Question(name: "_smartplug._tcp.local", type: .ptr, wantsUnicast: true)],
            answers: [Record(name: "_smartplug._tcp.local", timeToLive: 4500, data: .ptr(lamp))])
    }

    private var response: Message {
        Message(
            flags: [.response, .authoritative],
            answers: [
                Record(name: "_smartplug._tcp.local", timeToLive: 0, data: .ptr(lamp)),
                Record(
                    name: lamp, isCacheFlush: true, timeToLive: 120,
                    data: .srv(priority: 0, weight: 0, port: 40_123, target: "plug-6789ab.local")),
                Record(
                    name: lamp, isCacheFlush: true, timeToLive: 90,
                    data: .txt(Array("\u{9}txtvers=1\u{7}caps=\u{1B}[".utf8))),
            ],
            additionals: [
                Record(
                    name: "plug-6789ab.local", isCacheFlush: true, timeToLive: 120, data: .a(IPv4Address(192, 0, 2, 7))),
                Record(name: lamp, timeToLive: 90_061, data: .nsec(next: lamp, types: [.txt, .srv])),
                Record(name: lamp, timeToLive: 1, data: .other(RecordType(rawValue: 99), [1, 2, 3])),
            ])
    }

    @Test("The lines of a query") func queryForAPerson() throws {
        let told = try record(bytes(query))
        #expect(
            told.lines == [
                "2026-11-21T09:01:23.456Z  wlan0  192.0.2.7  query, 70 bytes, more follows",
                "    asks      PTR _smartplug._tcp.local (QU)",
                "    knows     PTR _smartplug._tcp.local: Living Room Lamp._smartplug._tcp.local (1 h 15 min)",
            ])
    }

    @Test("The lines of a response") func responseForAPerson() throws {
        let lines = try record(bytes(response), port: 40_000).lines
        #expect(
            lines.dropFirst() == [
                "    answers   PTR _smartplug._tcp.local: Living Room Lamp._smartplug._tcp.local (goodbye)",
                "    answers   SRV Living Room Lamp._smartplug._tcp.local: plug-6789ab.local port 40123 (2 min, cache flush)",
                "    answers   TXT Living Room Lamp._smartplug._tcp.local: txtvers=1 caps=\u{1B}[ (1 min 30 s, cache flush)",
                "    adds      A plug-6789ab.local: 192.0.2.7 (2 min, cache flush)",
                "    adds      NSEC Living Room Lamp._smartplug._tcp.local: only these types exist: TXT, SRV (1 d 1 h)",
                "    adds      TYPE99 Living Room Lamp._smartplug._tcp.local: 3 bytes (1 s)",
            ])
        // Printed text is sanitized, while JSON contains the original data.
        #expect(lines.map(safeText)[3].contains("caps=[ "))
        #expect(lines[0].contains("192.0.2.7 port 40000  response, "))
    }

    @Test("The JSON line of a query") func queryForAScript() throws {
        let told = try record(bytes(query))
        let expected =
            #"{"at":"2026-11-21T09:01:23.456Z","bytes":70,"from":"192.0.2.7","interface":"wlan0","kind":"query","#
            + #""port":5353,"questions":[{"name":"_smartplug._tcp.local","type":"PTR","unicast":true}],"#
            + #""records":[{"data":"Living Room Lamp._smartplug._tcp.local","flush":false,"#
            + #""name":"_smartplug._tcp.local","section":"known","ttl":4500,"type":"PTR"}],"to":"224.0.0.251","#
            + #""truncated":true}"#
        #expect(jsonLine(told) == expected)
    }

    @Test("The lines of a probe show its proposed records") func aProbeProposes() throws {
        let probe = Message(
            questions: [Question(name: lamp, type: .any)],
            authorities: [Record(name: lamp, timeToLive: 120, data: .txt([0]))])
        let told = try record(bytes(probe))
        #expect(told.kind == .probe && told.records.map(\.section) == [.proposed])
        #expect(
            told.lines.dropFirst() == [
                "    asks      ANY Living Room Lamp._smartplug._tcp.local",
                "    proposes  TXT Living Room Lamp._smartplug._tcp.local:  (2 min)",
            ])
    }

    @Test(
        "A malformed packet is reported with the offset and the reason",
        arguments: [
            ([], 0, "the packet ends before a field of 2 bytes"),
            (
                [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xC0, 12], 12,
                "a compressed name points forward to byte 12"
            ),
            ([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80], 12, "a label begins with the reserved byte 128"),
            (
                [0, 0, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 9, 0, 5, 1, 2, 3, 4, 5], 23,
                "the data of a record has 5 bytes, but its content needs 4"
            ),
        ] as [([UInt8], Int, String)])
    func malformed(bytes: [UInt8], offset: Int, reason: String) {
        let told = record(bytes)
        #expect(told.kind == .malformed && told.questions.isEmpty && told.records.isEmpty)
        #expect(told.fault?.offset == offset && told.fault?.reason == reason)
        #expect(
            told.lines == [
                "2026-11-21T09:01:23.456Z  wlan0  192.0.2.7  malformed, \(bytes.count) bytes: byte \(offset): \(reason)"
            ])
    }

    @Test("A packet with many records is shown in part") func aPacketFullOfRecordsIsShownInPart() throws {
        let many = Message(
            flags: .response, questions: [Question](repeating: Question(name: ".", type: .any), count: 200),
            answers: [Record](
                repeating: Record(name: ".", timeToLive: 1, data: .a(IPv4Address(rawValue: 1))), count: 300))
        let told = try record(bytes(many))
        #expect((told.questions.count, told.records.count, told.more) == (128, 128, 244))
        #expect(told.lines.last == "    and 244 more")
        #expect(told.lines.count == 1 + 128 + 128 + 1)
    }

    @Test("A long TXT record is truncated") func aLongTextIsCut() throws {
        let string = [UInt8(255)] + Array("k=".utf8) + [UInt8](repeating: 0x41, count: 253)
        let strings = (0..<30).flatMap { number -> [UInt8] in
            var one = string
            one[1] = 0x61 + UInt8(number % 26)
            return one
        }
        let long = Message(flags: .response, answers: [Record(name: ".", timeToLive: 1, data: .txt(strings))])
        let data = try record(bytes(long)).records[0].data
        #expect(data.hasSuffix("…") && data.count == 1301)
    }

    /// Any packet is described in limited space and without control characters.
    @Test("Descriptions of mutated packets are limited and free of control characters") func fuzzPackets() throws {
        var random = Fuzzing.random(1)
        let seeds = try [bytes(query), bytes(response)]
        for round in FuzzRounds(2000) {
            var packet = seeds[round % 2]
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                packet[Int.random(in: 0..<packet.count, using: &random)] = UInt8.random(
                    in: .min ... .max, using: &random)
            }
            let told = record(Array(packet.prefix(Int.random(in: 0...packet.count, using: &random))))
            #expect((told.fault != nil) == (told.kind == .malformed))
            let lines = told.lines.map(safeText)
            #expect(lines.count <= 258 && lines.allSatisfy { $0.utf8.count < 8000 })
            #expect(lines.allSatisfy { line in !line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } })
            #expect(!jsonLine(told).contains("\n"))
        }
    }

    @Test("The trace file has the format of pcap") func theFileForWireshark() {
        #expect(PacketTrace.header.suffix(4) == [101, 0, 0, 0] && PacketTrace.header.count == 24)
        let packet = PacketTrace.record(heard([1, 2, 3], port: 40_000))
        // The header has the time, 1,795,251,683 s and 456,789 µs, and the length of 31 bytes twice. The packet is IPv4
        // and UDP from port 40000.
        #expect(packet[..<16] == [0xE3, 0x5D, 0x01, 0x6B, 0x55, 0xF8, 6, 0, 31, 0, 0, 0, 31, 0, 0, 0])
        #expect(packet[16..<20] == [0x45, 0, 0, 31] && packet[28..<36] == [192, 0, 2, 7, 224, 0, 0, 251])
        #expect(packet[36..<42] == [0x9C, 0x40, 0x14, 0xE9, 0, 11] && packet.suffix(3) == [1, 2, 3])
    }
}
