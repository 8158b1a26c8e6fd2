import Foundation
import ProtocolCore
import SimulatedLAN
import Testing

@Suite struct PacketCaptureTests {
    @Test func aDatagramBecomesAnEthernetFrame() throws {
        let pair = Pair()
        pair.lan.capture = PacketCapture()
        pair.lan.schedule(pair.datagram([0x61, 0x62, 0x63]), on: pair.left, after: .milliseconds(1500))
        try pair.lan.run(for: .seconds(2))
        let capture = try #require(pair.lan.capture)
        #expect(capture.packets == 1)
        let header: [UInt8] = [
            0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0,
        ]
        // 1 s, 500000 µs, 45 bytes twice.
        let record: [UInt8] = [1, 0, 0, 0, 0x20, 0xA1, 7, 0, 45, 0, 0, 0, 45, 0, 0, 0]
        let ethernet: [UInt8] = [1, 0, 0x5E, 0, 0, 0xFB, 2, 0, 0, 0, 0, 0, 8, 0]
        let internet: [UInt8] = [
            0x45, 0, 0, 31, 0, 0, 0x40, 0, 255, 17, 0xD8, 0xD0, 192, 0, 2, 1, 224, 0, 0, 251,
        ]
        let user: [UInt8] = [0x14, 0xE9, 0x14, 0xE9, 0, 11, 0x6E, 0xA6, 0x61, 0x62, 0x63]
        #expect(capture.bytes == header + record + ethernet + internet + user)
    }

    @Test func datagramsOfIPv6AreCapturedToo() {
        var capture = PacketCapture()
        let lan = SimulatedLAN<Chatter>(seed: 1, budget: 1)
        let host = lan.add(Chatter(), name: "host")
        let interface = lan.attach(host, to: lan.addLink(), addresses: [])
        let group = IPAddress(bytes: [0xFF, 2] + [UInt8](repeating: 0, count: 13) + [0xFB])!
        capture.add(
            Datagram(from: Endpoint(.linkLocal(7), 5353), to: Endpoint(group, 5353), [1]), sender: interface, at: .zero)
        // File header, record header, Ethernet, IPv6, UDP, payload.
        #expect(capture.bytes.count == 24 + 16 + 14 + 40 + 8 + 1)
        #expect(capture.bytes[40..<54] == [0x33, 0x33, 0, 0, 0, 0xFB, 2, 0, 0, 0, 0, 0, 0x86, 0xDD])
        #expect(capture.bytes[54..<62] == [0x60, 0, 0, 0, 0, 9, 17, 255])
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tcpdump")))
    func tcpdumpReadsTheFile() throws {
        let pair = Pair()
        pair.lan.capture = PacketCapture()
        pair.lan.schedule(pair.datagram([1, 2, 3]), on: pair.left, after: .milliseconds(1500))
        try pair.lan.run(for: .seconds(2))
        let path = FileManager.default.temporaryDirectory.path + "/simulated-lan-\(getpid()).pcap"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try pair.lan.capture?.write(to: path)
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/tcpdump")
        reader.arguments = ["-n", "-vv", "-tt", "-r", path]
        let output = Pipe()
        reader.standardOutput = output
        reader.standardError = FileHandle.nullDevice
        try reader.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        reader.waitUntilExit()
        #expect(reader.terminationStatus == 0)
        #expect(text.hasPrefix("1.500000 IP "))
        #expect(text.contains("192.0.2.1.5353 > 224.0.0.251.5353"))
        #expect(!text.contains("bad"))
    }

    @Test func theCaptureStopsAtItsLimit() throws {
        let pair = Pair()
        pair.lan.capture = PacketCapture(limit: 300)
        for second in 1...20 { pair.lan.schedule(pair.datagram([1]), on: pair.left, after: .seconds(second)) }
        try pair.lan.run(for: .seconds(30))
        #expect(pair.lan.capture?.packets == 4)
        #expect(pair.lan.capture?.bytes.count == 24 + 4 * (16 + 43))
    }
}
