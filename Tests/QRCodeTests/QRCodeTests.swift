import Testing

@testable import QRCode

@Suite struct QRCodeTests {
    /// The finder pattern in three corners of every code.
    private static let finder = [
        "#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######",
    ]

    @Test("A QR code has three finder patterns and a valid size") func aCodeHasItsFindersAndItsSize() throws {
        let code = try #require(QRCode("SMARTPLUG:0123456789AB:ABCDEFGHIJKLMNOP"))
        #expect((code.size - 21) % 4 == 0)
        for (row, column) in [(0, 0), (0, code.size - 7), (code.size - 7, 0)] {
            let drawn = (0..<7).map { r in String((0..<7).map { code[row + r, column + $0] ? "#" : "." as Character }) }
            #expect(drawn == Self.finder)
        }
        #expect(!code[-1, 0] && !code[0, code.size])
    }

    @Test("The text lines show every module of the QR code") func linesShowEveryModule() throws {
        let code = try #require(QRCode("A"))
        #expect(code.size == 21)
        let lines = code.lines
        let width = code.size + 2 * QRCode.quietZone
        #expect(lines.count == (width + 1) / 2 && lines.allSatisfy { $0.count == width })
        for (index, line) in lines.enumerated() {
            for (offset, character) in line.enumerated() {
                let (row, column) = (index * 2 - QRCode.quietZone, offset - QRCode.quietZone)
                #expect("▀█".contains(character) == !code[row, column])
                guard row + 1 < code.size + QRCode.quietZone else { continue }
                #expect("▄█".contains(character) == !code[row + 1, column])
            }
        }
    }

    @Test("No code is created for an empty text or one that is too long") func whatNoCodeHoldsIsNone() {
        #expect(QRCode(String(repeating: "a", count: 5000)) == nil)
        #expect(QRCode("") == nil)
    }
}
