import DNSWire
import LinuxNetwork
import Metering
import PlugService
import ProtocolCore
import ServiceDiscovery

extension FuzzTarget {
    /// Checks that a valid sample chunk can be encoded and decoded again.
    static let sampleChunk = FuzzTarget(
        name: "sample-chunk",
        seeds: { [300, 4, 1].flatMap { encode(samples($0)) } },
        check: { bytes in
            guard let chunk = try? SampleChunk(bytes: bytes), let samples = try? chunk.samples() else { return false }
            try require(samples.count == chunk.count, "\(samples.count) samples in a chunk of \(chunk.count)")
            let again = try encode(samples).flatMap { try SampleChunk(bytes: $0).samples() }
            try require(again == samples, "the samples change")
            return true
        })

    /// Checks that a valid message can be encoded, and decodes to the same message.
    static let dnsMessage = FuzzTarget(
        name: "dns-message",
        seeds: { DiscoveryLink.recorded.map(\.bytes) },
        check: { bytes in
            guard let message = try? Message(decoding: bytes) else { return false }
            // Names that used compression pointers may be written in full, so the message may no longer fit.
            guard let written = try? message.encoded() else { return true }
            try require(try Message(decoding: written) == message, "the message changes")
            return true
        })

    /// Checks that the attributes of a TXT record survive encoding and decoding.
    static let txtRecord = FuzzTarget(
        name: "txt-record",
        seeds: { [DiscoveryLink.txt.encoded, [0], [3] + Array("a=b".utf8) + [1, 0x63, 2] + Array("d=".utf8)] },
        check: { bytes in
            let txt = TXTRecord(decoding: bytes)
            guard !txt.attributes.isEmpty else { return false }
            try require(TXTRecord(decoding: txt.encoded) == txt, "the record changes")
            return true
        })

    /// Parses rtnetlink datagrams, each preceded by a two-byte length.
    static let netlink = FuzzTarget(
        name: "netlink",
        seeds: { [netlinkDump] },
        check: { bytes in
            var table = InterfaceTable()
            _ = table.synchronize()
            var published = false
            for datagram in datagrams(in: bytes) {
                for action in table.receive(datagram) {
                    switch action {
                    case .send(let request): try require(request.count < 100, "a request has \(request.count) bytes")
                    case .publish(let interfaces):
                        published = true
                        let indices = interfaces.map(\.index)
                        try require(indices == Set(indices).sorted(), "the interfaces are not sorted: \(indices)")
                    case .fail: break
                    }
                }
            }
            return published
        })

    /// Checks that a valid line of the panel is written and parsed to the same request.
    static let panel = FuzzTarget(
        name: "panel",
        seeds: {
            ["press single", "press long", "load 60 W", "load television on", "status", "reset"].map { Array($0.utf8) }
        },
        check: { bytes in
            guard let request = try? PanelRequest(line: String(decoding: bytes, as: UTF8.self)) else { return false }
            try require(try PanelRequest(line: request.line) == request, "the request changes")
            return true
        })

    private static func samples(_ count: Int) -> [Sample] {
        (0..<count).map { index in
            Sample(
                milliseconds: Int64(index) * 1000 + (index > count / 2 ? 99_999 : 0),
                deciwatts: Int32(index * index % 30_000), decivolts: index % 100 < 90 ? UInt16(2290 + index % 20) : nil,
                milliamperes: index > count / 3 ? nil : 5)
        }
    }

    private static func encode(_ samples: [Sample]) -> [[UInt8]] {
        var encoder = SampleChunkEncoder()
        var chunks = samples.compactMap { encoder.append($0)?.bytes }
        if let last = encoder.seal() { chunks.append(last.bytes) }
        return chunks
    }

    /// Two interfaces, an address of each family, and the ends of both lists, as a little-endian kernel sends them.
    private static var netlinkDump: [UInt8] {
        func message(_ type: UInt8, _ sequence: UInt8, _ body: [UInt8]) -> [UInt8] {
            [UInt8(16 + body.count), 0, 0, 0, type, 0, 2, 0, sequence, 0, 0, 0, 0, 0, 0, 0] + body
        }
        func link(_ index: UInt8, _ name: String) -> [UInt8] {
            let text = Array(name.utf8) + [0, 0, 0]
            return message(
                16, 1,
                [0, 0, 1, 0, index, 0, 0, 0, 0x43, 0x10, 0, 0, 0, 0, 0, 0] + [UInt8(4 + text.count), 0, 3, 0] + text
                    + [10, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0, 35, 0, 1, 0, 0, 0])
        }
        let v4 = message(20, 2, [2, 24, 0x80, 0, 2, 0, 0, 0, 8, 0, 1, 0, 192, 0, 2, 1])
        let v6 = message(20, 2, [10, 64, 0, 0, 3, 0, 0, 0, 20, 0, 1, 0, 0xFE, 0x80] + [UInt8](repeating: 1, count: 14))
        let links = link(2, "eth01") + link(3, "wlan0") + message(3, 1, [0, 0, 0, 0])
        let addresses = v4 + v6 + message(3, 2, [0, 0, 0, 0])
        return framed([links, addresses])
    }
}

/// Splits datagrams with two-byte big-endian lengths; the last one may be truncated.
func datagrams(in bytes: [UInt8]) -> [[UInt8]] {
    var rest = bytes[...]
    var found: [[UInt8]] = []
    while rest.count > 2 {
        let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        let datagram = rest.dropFirst(2).prefix(length)
        found.append(Array(datagram))
        rest = rest.dropFirst(2 + datagram.count)
    }
    return found
}

func framed(_ datagrams: [[UInt8]]) -> [UInt8] {
    datagrams.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
}
