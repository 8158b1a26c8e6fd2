import MatterWire
import ProtocolCore
import Testing

@Suite struct TLVTests {
    /// The examples of Matter A.12.
    private static let examples: [(TLVElement, String)] = [
        (TLVElement(.anonymous, .boolean(false)), "08"),
        (TLVElement(.anonymous, .boolean(true)), "09"),
        (TLVElement(.anonymous, .signed(42)), "00 2A"),
        (TLVElement(.anonymous, .signed(-17)), "00 EF"),
        (TLVElement(.anonymous, .unsigned(42)), "04 2A"),
        (TLVElement(.anonymous, .signed(-170_000)), "02 F0 67 FD FF"),
        (TLVElement(.anonymous, .signed(40_000_000_000)), "03 00 90 2F 50 09 00 00 00"),
        (TLVElement(.anonymous, .text("Hello!")), "0C 06 48 65 6C 6C 6F 21"),
        (TLVElement(.anonymous, .text("Tschüs")), "0C 07 54 73 63 68 C3 BC 73"),
        (TLVElement(.anonymous, .bytes([0, 1, 2, 3, 4])), "10 05 00 01 02 03 04"),
        (TLVElement(.anonymous, .null), "14"),
        (TLVElement(.anonymous, .float(0)), "0A 00 00 00 00"),
        (TLVElement(.anonymous, .float(1 / 3)), "0A AB AA AA 3E"),
        (TLVElement(.anonymous, .float(17.9)), "0A 33 33 8F 41"),
        (TLVElement(.anonymous, .float(-.infinity)), "0A 00 00 80 FF"),
        (TLVElement(.anonymous, .double(1 / 3)), "0B 55 55 55 55 55 55 D5 3F"),
        (TLVElement(.anonymous, .double(17.9)), "0B 66 66 66 66 66 E6 31 40"),
        (TLVElement(.anonymous, .double(.infinity)), "0B 00 00 00 00 00 00 F0 7F"),
        (TLVElement(.anonymous, .structure([])), "15 18"),
        (TLVElement(.anonymous, .array([])), "16 18"),
        (TLVElement(.anonymous, .list([])), "17 18"),
        (TLVElement(.anonymous, .fields((0, .signed(42)), (1, .signed(-17)))), "15 20 00 2A 20 01 EF 18"),
        (TLVElement(.anonymous, .array((0...4).map { .signed($0) })), "16 00 00 00 01 00 02 00 03 00 04 18"),
        (
            TLVElement(
                .anonymous,
                .list([
                    TLVElement(.anonymous, .signed(1)), TLVElement(.context(0), .signed(42)),
                    TLVElement(.anonymous, .signed(2)), TLVElement(.anonymous, .signed(3)),
                    TLVElement(.context(0), .signed(-17)),
                ])), "17 00 01 20 00 2A 00 02 00 03 20 00 EF 18"
        ),
        (
            TLVElement(
                .anonymous,
                .array([.signed(42), .signed(-170_000), .structure([]), .float(17.9), .text("Hello!")])),
            "16 00 2A 02 F0 67 FD FF 15 18 0A 33 33 8F 41 0C 06 48 65 6C 6C 6F 21 18"
        ),
        (TLVElement(.context(1), .unsigned(42)), "24 01 2A"),
        (TLVElement(.commonProfile(1), .unsigned(42)), "44 01 00 2A"),
        (TLVElement(.commonProfile(100_000), .unsigned(42)), "64 A0 86 01 00 2A"),
        (TLVElement(.implicitProfile(1), .unsigned(42)), "84 01 00 2A"),
        (TLVElement(.implicitProfile(100_000), .unsigned(42)), "A4 A0 86 01 00 2A"),
        (
            TLVElement(.fullyQualified(vendor: 0xFFF1, profile: 0xDEED, tag: 1), .unsigned(42)),
            "C4 F1 FF ED DE 01 00 2A"
        ),
        (
            TLVElement(.fullyQualified(vendor: 0xFFF1, profile: 0xDEED, tag: 0xAA55_FEED), .unsigned(42)),
            "E4 F1 FF ED DE ED FE 55 AA 2A"
        ),
    ]

    @Test("The examples of the specification are encoded and decoded") func examples() throws {
        for (element, hexadecimal) in Self.examples {
            #expect(element.encoded == bytes(hexadecimal))
            #expect(element.encodedCount == element.encoded.count)
            #expect(try TLVElement(decoding: bytes(hexadecimal)) == element)
        }
    }

    @Test("Integers are encoded with the smallest width and decoded from any width") func widths() throws {
        for (number, count) in [(0xFF, 1), (0x100, 2), (0xFFFF, 2), (0x1_0000, 4), (0x1_0000_0000, 8)] {
            #expect(TLVValue.unsigned(UInt64(number)).encoded.count == 1 + count)
        }
        for (number, count) in [(127, 1), (-128, 1), (128, 2), (-129, 2), (32_768, 4), (-2_147_483_649, 8)] {
            #expect(TLVValue.signed(Int64(number)).encoded.count == 1 + count)
        }
        #expect(try TLVValue(decoding: bytes("01 2A 00")) == .signed(42))
        #expect(try TLVValue(decoding: bytes("01 FE FF")) == .signed(-2))
        #expect(try TLVValue(decoding: bytes("07 2A 00 00 00 00 00 00 00")) == .unsigned(42))
        #expect(try TLVValue(decoding: bytes("0F 01 00 00 00 00 00 00 00 41")) == .text("A"))
        let long = TLVValue.bytes([UInt8](repeating: 7, count: 300))
        #expect(long.encoded.prefix(3) == [0x11, 0x2C, 0x01])
        #expect(try TLVValue(decoding: long.encoded[...]) == long)
    }

    @Test("Integers convert only if they fit") func conversions() {
        #expect(TLVValue.signed(5).asUnsigned == 5)
        #expect(TLVValue.signed(-5).asUnsigned == nil)
        #expect(TLVValue.unsigned(.max).asSigned == nil)
        #expect(TLVValue.unsigned(256).unsigned(UInt8.self) == nil)
        #expect(TLVValue.unsigned(255).unsigned(UInt8.self) == 255)
        #expect(TLVValue.unsigned(128).signed(Int8.self) == nil)
        #expect(TLVValue.text("5").asUnsigned == nil)
        #expect(TLVValue.boolean(true).asBoolean == true && TLVValue.null.isNull && TLVValue.null.asBytes == nil)
    }

    @Test("Members are found by their context tags, and nil members are omitted") func members() {
        let value = TLVValue.fields((0, .unsigned(1)), (1, nil), (2, .array([.null])))
        #expect(value[0] == .unsigned(1) && value[1] == nil && value[2]?.elements == [.null])
        #expect(value.members?.count == 2)
        #expect(TLVValue.listed((7, .null))[7] == .null)
        #expect(TLVValue.array([.null])[0] == nil)
    }

    @Test(
        "Bytes that are not exactly one element are rejected",
        arguments: [
            "", "18", "04", "05 01", "07 01 02 03 04 05 06 07", "24", "15", "15 04 01 18", "16 24 01 01 18", "08 08",
            "0C 02 41", "0C 01 FF", "0C 02 C0 80", "13 FF FF FF FF FF FF FF FF", "0F 00 00 00 00 00 00 00 80", "19",
            "1F", "C4 F1 FF", "15 24 01 01",
        ])
    func invalid(hexadecimal: String) {
        #expect(throws: MatterError.self) { try TLVElement(decoding: bytes(hexadecimal)) }
    }

    @Test("Twelve nested containers and 4096 elements are decoded, and one more is rejected") func limits() throws {
        func nested(_ depth: Int) -> [UInt8] {
            [UInt8](repeating: 0x16, count: depth) + [UInt8](repeating: 0x18, count: depth)
        }
        _ = try TLVValue(decoding: nested(TLVLimits.depth))
        #expect(throws: MatterError.exceedsLimit("TLV: more than 12 nested containers")) {
            try TLVValue(decoding: nested(TLVLimits.depth + 1))
        }
        func wide(_ count: Int) -> [UInt8] { [0x16] + [UInt8](repeating: 0x14, count: count - 1) + [0x18] }
        #expect(try TLVValue(decoding: wide(TLVLimits.elements)).elements?.count == TLVLimits.elements - 1)
        #expect(throws: MatterError.exceedsLimit("TLV: more than 4096 elements")) {
            try TLVValue(decoding: wide(TLVLimits.elements + 1))
        }
    }

    @Test("Random values survive encoding, and changed bytes are rejected or decoded to a stable value")
    func random() throws {
        var generator = SeededRandom(seed: 7)
        for _ in 0..<500 {
            let element = TLVElement(.context(3), Self.value(depth: 0, using: &generator))
            let encoded = element.encoded
            #expect(encoded.count == element.encodedCount)
            #expect(try TLVElement(decoding: encoded) == element)
            let cut = Int.random(in: 0..<encoded.count, using: &generator)
            #expect(throws: MatterError.self) { try TLVElement(decoding: encoded.prefix(cut)) }
            var changed = encoded
            changed[cut] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            if let other = try? TLVElement(decoding: changed) {
                #expect(try TLVElement(decoding: other.encoded).encoded == other.encoded)
            }
        }
    }

    private static func value(depth: Int, using generator: inout SeededRandom) -> TLVValue {
        func many<Item>(_ make: () -> Item) -> [Item] {
            (0..<Int.random(in: 0..<4, using: &generator)).map { _ in make() }
        }
        let shift = UInt64.random(in: 0..<64, using: &generator)
        switch Int.random(in: 0..<(depth < 4 ? 11 : 8), using: &generator) {
        case 0: return .signed(Int64(bitPattern: generator.next()) >> Int64(shift))
        case 1: return .unsigned(generator.next() >> shift)
        case 2: return .boolean(shift < 32)
        case 3: return .float(Float(shift) / 3)
        case 4: return .double(Double(shift) / 7)
        case 5: return .text(String(repeating: "é", count: Int(shift) * 5))
        case 6: return .bytes([UInt8](repeating: UInt8(shift), count: Int(shift) * 9))
        case 7: return .null
        case 8: return .structure(many { TLVElement(tag(&generator), value(depth: depth + 1, using: &generator)) })
        case 9: return .array(many { value(depth: depth + 1, using: &generator) })
        default: return .list(many { TLVElement(tag(&generator), value(depth: depth + 1, using: &generator)) })
        }
    }

    private static func tag(_ generator: inout SeededRandom) -> TLVTag {
        let number = UInt32(truncatingIfNeeded: generator.next() >> UInt64.random(in: 32..<64, using: &generator))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .context(UInt8(truncatingIfNeeded: number))
        case 1: return .commonProfile(number)
        case 2: return .implicitProfile(number)
        default: return .fullyQualified(vendor: 0xFFF1, profile: 3, tag: number)
        }
    }
}

/// Returns the bytes of hexadecimal digits, which may be separated by spaces.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
