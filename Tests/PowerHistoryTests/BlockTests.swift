import ProtocolCore
import Testing

@testable import PowerHistory

@Suite struct BlockTests {
    @Test("A decoded block equals the encoded one", arguments: RollUpStep.allCases)
    func blocksComeBackAsTheyWere(step: RollUpStep) throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<50 {
            var block = RollUpBlock(step)
            for index in block.entries.indices where Bool.random(using: &random) {
                var entry = RollUpEntry()
                if Int.random(in: 0..<9, using: &random) > 0 {
                    let least = Int32.random(in: -20_000...40_000, using: &random)
                    let greatest = least + Int32.random(in: 0...30_000, using: &random)
                    entry.power = .init(mean: Int64(least) * 100 + 77, least: least, greatest: greatest)
                    entry.covered = Int64.random(in: 0...step.milliseconds, using: &random)
                }
                if step != .minute {
                    entry.energy = Int64.random(in: -1_000_000...90_000_000_000, using: &random)
                    entry.estimated = Int64.random(in: 0...10, using: &random)
                }
                block[index] = entry
            }
            #expect(try RollUpBlock(step, decoding: block.bytes).entries == block.entries)
        }
    }

    @Test("Any flipped bit in a block is detected as damage") func anyFlippedBitIsSeen() throws {
        var block = RollUpBlock(.quarter)
        for index in 3..<40 {
            block[index] = RollUpEntry(
                covered: 900_000, power: .init(mean: 23_456, least: 200, greatest: 300), energy: 5_864_000)
        }
        let bytes = block.bytes
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                #expect(throws: CellDamage.self) { try RollUpBlock(.quarter, decoding: damaged) }
            }
        }
        #expect(bytes.count < 37 * 8)
    }

    @Test("The CRC-32 equals the published values") func theChecksumIsThatOfTheStandard() {
        #expect(Checksum.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(Checksum.crc32([UInt8]()) == 0)
        #expect(Checksum.crc32(Array("The quick brown fox jumps over the lazy dog".utf8)) == 0x414F_A339)
    }

    @Test("Dirty spans near each other are joined") func dirtySpansAreJoinedWhereTheyAreNear() {
        var spans = DirtySpans()
        let far = DirtySpans.reach * 3
        for start in [far, 0, 2 * far, 100, far + 5] { spans.insert(start...start + 10) }
        #expect(spans.spans == [0...110, far...far + 15, 2 * far...2 * far + 10])
        spans.insert(0...3 * far)
        #expect(spans.spans == [0...3 * far])
    }
}
