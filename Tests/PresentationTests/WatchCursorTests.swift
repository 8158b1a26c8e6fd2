import LinuxSystem
import PlugModel
import ProtocolCore
import Testing

@testable import Presentation

@Suite struct WatchCursorTests {
    private let lamp = PlugID(rawValue: "0123456789ab")!
    private let fan = PlugID(rawValue: "ffffffffffff")!
    private let zero = PlugID(rawValue: "000000000000")!

    @Test("A decoded cursor equals the encoded one") func itIsReadAsItWasWritten() throws {
        for known in [[:], [lamp: 0], [lamp: 41, fan: SequenceNumber(Int64.max), zero: 1]] {
            let cursor = WatchCursor(start: moment, known: known)
            let read = try WatchCursor(text: cursor.text)
            #expect(read == cursor)
            #expect(read.known == known)
            #expect(read.start == WallTime(nanosecondsSince1970: 1_795_251_683_456_000_000))
        }
    }

    /// Scripts store cursors, so later versions must be able to read this format.
    @Test("The text of a cursor does not change between versions") func theTextStands() {
        #expect(WatchCursor(start: moment, known: [lamp: 300]).text == "c1gIHb6p80ASNFZ4mrrAI880YS")
    }

    @Test("The text of a cursor is one word that cannot be taken for a number or an option")
    func oneWordWhichIsNoNumberAndNoOption() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let known = Dictionary(
                (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    (
                        PlugID(drawnFrom: &random),
                        SequenceNumber.random(in: 0...SequenceNumber(Int64.max), using: &random)
                    )
                }
            ) { first, _ in first }
            let text = WatchCursor(start: moment, known: known).text
            #expect(text.hasPrefix("c1"))
            #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
        }
    }

    @Test("A cursor of a thousand plugs fits into an argument") func aThousandPlugsFitIntoAnArgument() throws {
        var cursor = WatchCursor(start: moment)
        var random = SeededRandom(seed: 1)
        for _ in 0..<1000 { cursor.set(.random(in: 0..<100_000, using: &random), of: PlugID(drawnFrom: &random)) }
        #expect(cursor.text.utf8.count < 12_000)
        #expect(try WatchCursor(text: cursor.text) == cursor)
        for _ in 0..<1000 { cursor.set(SequenceNumber(Int64.max), of: PlugID(drawnFrom: &random)) }
        #expect(cursor.known.count == WatchCursor.limit)
        #expect(cursor.text.utf8.count < WatchCursor.longestText)
        #expect(try WatchCursor(text: cursor.text) == cursor)
    }

    @Test("A truncated or changed cursor is rejected") func whatWasCutOffOrChangedIsRefused() {
        let text = WatchCursor(start: moment, known: [lamp: 41, fan: 7]).text
        for length in 2..<text.count {
            #expect(throws: WatchCursorFault.damaged) { try WatchCursor(text: String(text.prefix(length))) }
        }
        for place in 2..<text.count {
            var other = Array(text)
            other[place] = other[place] == "A" ? "B" : "A"
            // The last letter has unused bits, so a text with a different last letter may be decoded to the same
            // cursor.
            guard place < text.count - 1 else { continue }
            #expect(throws: WatchCursorFault.damaged) { try WatchCursor(text: String(other)) }
        }
        #expect(throws: WatchCursorFault.damaged) { try WatchCursor(text: text + "\n") }
        #expect(throws: WatchCursorFault.damaged) { try WatchCursor(text: text + "=") }
    }

    @Test("A text that is not a cursor is rejected with the reason") func whatIsNoCursorSaysWhy() {
        for text in ["", "Lamp", "-1", "4x", "{}"] {
            #expect(throws: WatchCursorFault.noCursor) { try WatchCursor(text: text) }
        }
        #expect(throws: WatchCursorFault.otherVersion) { try WatchCursor(text: "c2AAAA") }
        #expect(throws: WatchCursorFault.tooLong) { try WatchCursor(text: String(repeating: "c", count: 30_000)) }
    }

    @Test("Any text is either decoded or rejected") func anyTextIsReadOrRefused() {
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let letters = Array("cC1AZaz09-_")
            let rest = (0..<Int.random(in: 0...60, using: &random)).map { _ in letters.randomElement(using: &random)! }
            let text = "c1" + String(rest)
            if let cursor = try? WatchCursor(text: text) { #expect(try! WatchCursor(text: cursor.text) == cursor) }
        }
    }
}
