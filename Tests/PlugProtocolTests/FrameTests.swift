import ProtocolCore
import Testing

import PlugModel

@testable import PlugProtocol

@Suite struct FrameTests {
    private func ping(_ token: UInt64) -> [UInt8] { controllerFrame { $0.ping.token = token } }

    private func tokens(_ decoder: inout FrameDecoder) throws -> [UInt64] {
        var tokens: [UInt64] = []
        while let message = try decoder.next(WireControllerMessage.self) { tokens.append(message.ping.token) }
        return tokens
    }

    @Test("A frame is the message with its length in four bytes in front")
    func aFrameIsItsLengthInFourBytesAndTheMessage() {
        // Field 6, length-delimited, 2 bytes: field 1, varint 5.
        #expect(ping(5) == [0, 0, 0, 4, 0x32, 2, 0x08, 5])
    }

    @Test("Bytes that arrive one by one yield the same messages")
    func bytesOneByOneGiveTheSameMessages() throws {
        let stream = (1...50).flatMap { ping(UInt64($0)) }
        var decoder = FrameDecoder()
        var found: [UInt64] = []
        for byte in stream {
            decoder.append([byte])
            found += try tokens(&decoder)
        }
        #expect(found == Array(1...50))
        #expect(decoder.buffered == 0)
    }

    @Test("Any segmentation of the stream yields the same messages", arguments: 1...20)
    func anyCutGivesTheSameMessages(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var rest = (1...300).flatMap { ping(UInt64($0)) }[...]
        var decoder = FrameDecoder()
        var found: [UInt64] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...40, using: &random))
            rest = rest.dropFirst(piece.count)
            decoder.append(Array(piece))
            found += try tokens(&decoder)
        }
        #expect(found == Array(1...300))
    }

    @Test("A length outside the limits is rejected with its offset")
    func lengthsOutsideTheLimitAreNamedWithTheirPlace() throws {
        let cases: [(Int, [UInt8])] = [
            (0, [0, 0, 0, 0]), (65_537, [0, 1, 0, 1]), (0xFFFF_FFFF, [255, 255, 255, 255]),
        ]
        for (length, header) in cases {
            var decoder = FrameDecoder()
            decoder.append(ping(1) + header)
            _ = try decoder.next(WireControllerMessage.self)
            #expect(throws: FrameFault.length(length, offset: 8)) {
                try decoder.next(WireControllerMessage.self)
            }
        }
    }

    @Test("The largest allowed message is accepted")
    func theLargestMessageIsTaken() throws {
        // An unknown field fills the frame: number 100, length-delimited.
        let length = 65_536
        let head: [UInt8] = [0, 1, 0, 0, 0xA2, 0x06]
        let content = length - 5
        let varint = [UInt8(content & 0x7F | 0x80), UInt8(content >> 7 & 0x7F | 0x80), UInt8(content >> 14)]
        var decoder = FrameDecoder()
        decoder.append(head + varint + [UInt8](repeating: 0, count: content))
        let message = try decoder.next(WireControllerMessage.self)
        #expect(message != nil)
        #expect(message?.kind == nil)
        #expect(decoder.buffered == 0)
    }

    @Test("Bytes that are not a message are rejected with their offset")
    func bytesThatAreNoMessageAreNamedWithTheirPlace() {
        var decoder = FrameDecoder()
        decoder.append([0, 0, 0, 2, 0x32, 0xFF])
        #expect(throws: FrameFault.notAMessage(offset: 0)) { try decoder.next(WireControllerMessage.self) }
    }
}
