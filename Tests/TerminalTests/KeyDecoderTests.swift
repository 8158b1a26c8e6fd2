import Testing

@testable import Terminal

struct KeyDecoderTests {
    private static let sequences: [(bytes: String, key: Key)] = [
        ("a", .character("a")), ("é", .character("é")), ("居", .character("居")), ("😀", .character("😀")),
        ("\r", .enter), ("\n", .enter), ("\t", .tab), ("\u{7F}", .backspace), ("\u{08}", .backspace),
        ("\u{03}", .interrupt), ("\u{01}", .control("a")), ("\u{1A}", .control("z")), ("\0", .control(" ")),
        ("\u{1B}[A", .up), ("\u{1B}OB", .down), ("\u{1B}[1;5C", .right), ("\u{1B}[D", .left), ("\u{1B}[H", .home),
        ("\u{1B}[4~", .end), ("\u{1B}OF", .end), ("\u{1B}[2~", .insert), ("\u{1B}[3~", .delete), ("\u{1B}[5~", .pageUp),
        ("\u{1B}[6;2~", .pageDown), ("\u{1B}[Z", .backTab), ("\u{1B}OP", .function(1)), ("\u{1B}[15~", .function(5)),
        ("\u{1B}[17~", .function(6)), ("\u{1B}[24~", .function(12)), ("\u{1B}[[C", .function(3)),
        ("\u{1B}x", .alt("x")),
        ("\u{1B}é", .alt("é")), ("\u{1B}[<0;1;24M", .click(column: 0, row: 23)), ("\u{1B}[<64;5;5M", .up),
        ("\u{1B}[<65;5;5M", .down),
    ]

    @Test("Each byte sequence is decoded as its key", arguments: sequences) func decodes(bytes: String, key: Key) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(bytes.utf8) == [key])
        #expect(!decoder.isPending)
    }

    @Test("Keys are decoded if their bytes arrive one at a time") func bytesMayComeOneByOne() {
        var decoder = KeyDecoder()
        var keys: [Key] = []
        for sequence in Self.sequences {
            for byte in sequence.bytes.utf8 { keys += decoder.decode([byte]) }
        }
        #expect(keys == Self.sequences.map(\.key))
    }

    @Test("An escape key is decoded only after a flush or a byte that continues no sequence")
    func escapeAloneIsKnownOnlyByWaiting() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]).isEmpty)
        #expect(decoder.isPending)
        #expect(decoder.flush() == [.escape])
        #expect(!decoder.isPending)
        #expect(decoder.decode([0x1B, 0x1B]) == [.escape])
        #expect(decoder.flush() == [.escape])
        #expect(decoder.decode([0x1B, 0x5B]).isEmpty)
        #expect(decoder.flush() == [.alt("[")])
        #expect(decoder.decode([0x1B, 0x0D]) == [.escape, .enter])
    }

    @Test("Unknown sequences and invalid UTF-8 are ignored") func unknownSequencesAreSwallowedWhole() {
        var decoder = KeyDecoder()
        #expect(decoder.decode("\u{1B}[200~\u{1B}[?1;2c\u{1B}[99~q".utf8) == [.character("q")])
        // A released button, a right button, and numbers that are too large.
        for report in ["0;1;1m", "2;1;1M", "0;0;1M", "0;99999999999999999999;1M"] {
            #expect(decoder.decode("\u{1B}[<\(report)".utf8).isEmpty)
        }
        #expect(decoder.decode([0x1B, 0x5B, 0x31, 0x03]) == [.interrupt])
        #expect(decoder.decode([0xFF, 0xC0, 0x80, 0x61]) == [.character("a")])
        #expect(decoder.decode([0xC3, 0x61]) == [.character("a")])
        #expect(decoder.decode([0xED, 0xA0, 0x80, 0x62]) == [.character("b")])
    }

    @Test("A sequence above the length limit is dropped") func endlessSequenceIsDropped() {
        var decoder = KeyDecoder()
        #expect(decoder.decode("\u{1B}[".utf8 + Array(repeating: UInt8(ascii: "1"), count: 500)).isEmpty)
        #expect(!decoder.isPending)
        #expect(decoder.decode("q".utf8) == [.character("q")])
    }

    @Test("After random bytes the decoder still decodes keys") func anyBytesAreTaken() {
        var state: UInt64 = 7
        var decoder = KeyDecoder()
        for round in 0..<5000 {
            let bytes = (0..<(round % 40)).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let byte = UInt8(truncatingIfNeeded: state >> 33)
                return byte % 5 == 0 ? 0x1B : byte % 7 == 0 ? 0x5B : byte
            }
            _ = decoder.decode(bytes)
            _ = round % 3 == 0 ? decoder.flush() : []
        }
        _ = decoder.flush()
        #expect(decoder.decode("q".utf8) == [.character("q")])
    }
}
