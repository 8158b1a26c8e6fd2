import Foundation
import ProtocolCore
import SimulatedLAN
import TestSupport
import Testing

@Suite struct PacketCaptureTests {
    @Test("A datagram is captured as an Ethernet frame")
    func aDatagramBecomesAnEthernetFrame() throws {
        let pair = Pair()
        pair.lan.capture = PacketCapture()
        pair.lan.schedule(pair.datagram([0x61, 0x62, 0x63]), on: pair.left, after: .milliseconds(1500))
        try pair.lan.run(for: .seconds(2))
        let capture = try #require(pair.lan.capture)
        #expect(capture.packets == 1)
        let header: [UInt8] = [
            0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0,
        ]
        // The header of the record has the time, 1 s and 500,000 µs, and the length of 45 bytes twice.
        let record: [UInt8] = [1, 0, 0, 0, 0x20, 0xA1, 7, 0, 45, 0, 0, 0, 45, 0, 0, 0]
        let ethernet: [UInt8] = [1, 0, 0x5E, 0, 0, 0xFB, 2, 0, 0, 0, 0, 0, 8, 0]
        let internet: [UInt8] = [
            0x45, 0, 0, 31, 0, 0, 0x40, 0, 255, 17, 0xD8, 0xD0, 192, 0, 2, 1, 224, 0, 0, 251,
        ]
        let user: [UInt8] = [0x14, 0xE9, 0x14, 0xE9, 0, 11, 0x6E, 0xA6, 0x61, 0x62, 0x63]
        #expect(capture.bytes == header + record + ethernet + internet + user)
    }

    @Test("IPv6 datagrams are captured")
    func datagramsOfIPv6AreCapturedToo() {
        var capture = PacketCapture()
        let lan = SimulatedLAN<Chatter>(seed: 1, budget: 1)
        let host = lan.add(Chatter(), name: "host")
        let interface = lan.attach(host, to: lan.addLink(), addresses: [])
        let group = IPAddress(bytes: [0xFF, 2] + [UInt8](repeating: 0, count: 13) + [0xFB])!
        capture.add(
            Datagram(from: Endpoint(.linkLocal(7), 5353), to: Endpoint(group, 5353), [1]), sender: interface, at: .zero)
        // The sizes of the file header, the record header, the headers of Ethernet, IPv6 and UDP, and the payload.
        #expect(capture.bytes.count == 24 + 16 + 14 + 40 + 8 + 1)
        #expect(capture.bytes[40..<54] == [0x33, 0x33, 0, 0, 0, 0xFB, 2, 0, 0, 0, 0, 0, 0x86, 0xDD])
        #expect(capture.bytes[54..<62] == [0x60, 0, 0, 0, 0, 9, 17, 255])
    }

    @Test(
        "tcpdump reads the capture without errors",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tcpdump"), "tcpdump is not installed"))
    func tcpdumpReadsTheFile() throws {
        let pair = Pair()
        pair.lan.capture = PacketCapture()
        pair.lan.schedule(pair.datagram([1, 2, 3]), on: pair.left, after: .milliseconds(1500))
        try pair.lan.run(for: .seconds(2))
        let folder = TestFolder()
        let path = folder.path + "/lan.pcap"
        try pair.lan.capture?.write(to: path)
        let text = try output(of: "/usr/bin/tcpdump", ["-n", "-vv", "-tt", "-r", path])
        #expect(text.hasPrefix("1.500000 IP "))
        #expect(text.contains("192.0.2.1.5353 > 224.0.0.251.5353"))
        #expect(!text.contains("bad"))
    }

    /// A stream is captured as consecutive TCP segments without gaps.
    @Test("A stream is captured as TCP segments")
    func streamsAreCapturedAsSegments() throws {
        let pair = Pair()
        pair.lan.capture = PacketCapture()
        try talk(pair)
        let segments = try #require(pair.lan.capture).packetBytes.map { Segment($0) }
        #expect(
            segments == [
                Segment(port: 80, flags: 0x02, sequence: 0, acknowledgement: 0, bytes: 0),
                Segment(port: 32_769, flags: 0x12, sequence: 0, acknowledgement: 1, bytes: 0),
                Segment(port: 80, flags: 0x10, sequence: 1, acknowledgement: 1, bytes: 0),
                Segment(port: 80, flags: 0x18, sequence: 1, acknowledgement: 1, bytes: 1440),
                Segment(port: 80, flags: 0x18, sequence: 1441, acknowledgement: 1, bytes: 560),
                Segment(port: 80, flags: 0x11, sequence: 2001, acknowledgement: 1, bytes: 0),
            ])
    }

    @Test(
        "tshark finds no faults in a captured stream",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tshark")))
    func tsharkFindsNoFaultInAStream() throws {
        let pair = Pair()
        pair.lan.capture = PacketCapture()
        try talk(pair)
        let folder = TestFolder()
        let path = folder.path + "/stream.pcap"
        try pair.lan.capture?.write(to: path)
        let checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        let all = try output(of: "/usr/bin/tshark", ["-r", path, "-T", "fields", "-e", "tcp.len"] + checks)
        #expect(all.split(separator: "\n") == ["0", "0", "0", "1440", "560", "0"])
        let faults = "tcp.analysis.flags or tcp.checksum.status == 0 or ip.checksum.status == 0"
        #expect(try output(of: "/usr/bin/tshark", ["-r", path, "-Y", faults] + checks) == "")
    }

    @Test("A run stores its capture in the configured folder")
    func aRunLeavesItsCaptureInTheFolder() throws {
        let folder = TestFolder()
        #expect(CaptureFolder(environment: [:]) == nil && CaptureFolder(environment: ["SMARTPLUG_CAPTURE": ""]) == nil)
        do {
            let captures = CaptureFolder(environment: ["SMARTPLUG_CAPTURE": folder.path])
            let lan = SimulatedLAN<Chatter>(seed: 7, budget: 10, captures: captures)
            let (link, host) = (lan.addLink(), lan.add(Chatter(), name: "host"))
            let interface = lan.attach(host, to: link, addresses: [IPAddress(192, 0, 2, 1)])
            let end = Endpoint(IPAddress(192, 0, 2, 1), 5353)
            lan.schedule(.powerOn(host))
            let datagram = Datagram(from: end, to: Endpoint(IPAddress(224, 0, 0, 251), 5353), [1])
            lan.schedule(.act(.send(datagram, on: interface)), on: host, after: .seconds(1))
            try lan.run(for: .seconds(2))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.count == 1 && files[0].hasPrefix("Chatter-seed-7-") && files[0].hasSuffix(".pcap"))
    }

    private func talk(_ pair: Pair) throws {
        pair.lan.schedule(pair.connect(), on: pair.left)
        pair.lan.schedule(pair.write([UInt8](repeating: 7, count: 2000)), on: pair.left, after: .seconds(1))
        pair.lan.schedule(.act(.close(StreamID(1))), on: pair.left, after: .seconds(2))
        try pair.lan.run(for: .seconds(3))
    }

    private func output(of program: String, _ arguments: [String]) throws -> String {
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: program)
        reader.arguments = arguments
        let output = Pipe()
        reader.standardOutput = output
        reader.standardError = FileHandle.nullDevice
        try reader.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        reader.waitUntilExit()
        #expect(reader.terminationStatus == 0)
        return text
    }

    @Test("The capture stops at its limit")
    func theCaptureStopsAtItsLimit() throws {
        let pair = Pair()
        pair.lan.capture = PacketCapture(limit: 300)
        for second in 1...20 { pair.lan.schedule(pair.datagram([1]), on: pair.left, after: .seconds(second)) }
        try pair.lan.run(for: .seconds(30))
        #expect(pair.lan.capture?.packets == 4)
        #expect(pair.lan.capture?.bytes.count == 24 + 4 * (16 + 43))
    }
}

/// A TCP segment in a frame of Ethernet and IPv4.
private struct Segment: Hashable {
    var port: Int
    var flags: UInt8
    var sequence: Int
    var acknowledgement: Int
    var bytes: Int

    init(port: Int, flags: UInt8, sequence: Int, acknowledgement: Int, bytes: Int) {
        (self.port, self.flags, self.sequence) = (port, flags, sequence)
        (self.acknowledgement, self.bytes) = (acknowledgement, bytes)
    }

    init(_ frame: [UInt8]) {
        func number(_ range: Range<Int>) -> Int { frame[range].reduce(0) { $0 << 8 | Int($1) } }
        let start = 14 + 20
        self.init(
            port: number(start + 2..<start + 4), flags: frame[start + 13], sequence: number(start + 4..<start + 8),
            acknowledgement: number(start + 8..<start + 12), bytes: frame.count - start - 20)
    }
}

extension PacketCapture {
    /// The packets in the file, separated by their lengths.
    fileprivate var packetBytes: [[UInt8]] {
        var (rest, packets) = (bytes.dropFirst(24), [[UInt8]]())
        while rest.count > 16 {
            let length = rest.dropFirst(8).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            packets.append(Array(rest.dropFirst(16).prefix(length)))
            rest = rest.dropFirst(16 + length)
        }
        return packets
    }
}
