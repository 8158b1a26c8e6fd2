import Testing

@testable import Terminal

struct RedrawTests {
    private func text(_ previous: [String], _ next: [String], _ placement: Placement = .wholeScreen) -> String {
        let bytes = redraw(
            from: previous.map { StyledLine($0) }, to: next.map { StyledLine($0) }, placement: placement, colors: .none)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Only changed characters are written") func onlyTheDifferenceIsWritten() {
        #expect(text(["Lamp 43.2 W on"], ["Lamp 43.2 W on"]) == "")
        #expect(text(["Lamp 43.2 W on"], ["Lamp 43.7 W on"]) == "\u{1B}[1;9H7")
        #expect(text(["a", "Lamp 9 W"], ["a", "Lamp 10 W"]) == "\u{1B}[2;6H10 W")
        #expect(text(["Lamp 10 W"], ["Lamp 9 W"]) == "\u{1B}[1;6H9 W\u{1B}[K")
        #expect(text(["a", "b"], ["a"]) == "\u{1B}[2;1H\u{1B}[J")
    }

    @Test("Output in place moves the cursor relatively") func inPlaceMovesRelatively() {
        #expect(text([], ["a", "b"], .inPlace) == "\ra\r\nb" || text([], ["a", "b"], .inPlace) == "\ra\r\n\rb")
        #expect(text(["a", "b", "c"], ["x", "b", "c"], .inPlace) == "\u{1B}[2A\rx\u{1B}[2B")
        #expect(text(["a", "b", "c"], ["a"], .inPlace) == "\u{1B}[1A\r\u{1B}[J\u{1B}[1A")
    }

    @Test("After a composed character, the cursor's column is set again")
    func columnIsSetAnewAfterComposedCharacters() {
        #expect(text([], ["👩‍👩‍👧 x"]) == "\u{1B}[1;1H👩‍👩‍👧\u{1B}[3G x")
    }

    @Test("A changed style is written") func styleChangesAreDifferences() {
        let bytes = redraw(
            from: [StyledLine("on", Style(.red))], to: [StyledLine("on", Style(.green))], placement: .wholeScreen,
            colors: .sixteen)
        #expect(String(decoding: bytes, as: UTF8.self) == "\u{1B}[1;1H\u{1B}[32mon\u{1B}[0m")
    }

    @Test(
        "After each of several random frames the screen shows that frame", arguments: [Placement.wholeScreen, .inPlace])
    func screenShowsTheFrame(_ placement: Placement) {
        var random = Lehmer(state: 11)
        let pieces = ["Lamp", " ", "43.2 W", "居間", "👩‍👩‍👧", "on", "█▁", "e\u{301}", "", "  ", "🇩🇪", "x"]
        for _ in 0..<300 {
            var screen = ScreenModel(columns: 30, rows: 8)
            var previous: [StyledLine] = []
            for _ in 0..<12 {
                var next: [StyledLine] = (0..<Int.random(in: 0...8, using: &random)).map { row in
                    if row < previous.count, Bool.random(using: &random) { return previous[row] }
                    var line = StyledLine()
                    for _ in 0..<Int.random(in: 0...7, using: &random) {
                        line.append(pieces.randomElement(using: &random)!, Bool.random(using: &random) ? .bold : .plain)
                    }
                    return line.truncated(to: 30)
                }
                if Bool.random(using: &random) { next = Array(next.shuffled(using: &random)) }
                screen.feed(redraw(from: previous, to: next, placement: placement, colors: .many))
                let blank = Array(repeating: "", count: 8 - next.count)
                #expect(screen.lines == next.map { trimmed($0.text) } + blank)
                if placement == .inPlace { #expect(screen.row == max(0, next.count - 1)) }
                previous = next
            }
        }
    }

    private func trimmed(_ text: String) -> String { String(text.reversed().drop { $0 == " " }.reversed()) }

    @Test("If one character changes, one character is written") func quietFramesAreCheap() {
        var screen = ScreenModel(columns: 80, rows: 24)
        var frame = (0..<24).map { StyledLine("Plug \($0)  43.\($0 % 10) W  on") }
        screen.feed(redraw(from: [], to: frame, placement: .wholeScreen, colors: .many))
        let before = screen.written
        let previous = frame
        frame[7] = StyledLine("Plug 7  43.9 W  on")
        screen.feed(redraw(from: previous, to: frame, placement: .wholeScreen, colors: .many))
        #expect(screen.written == before + 1)
    }
}

/// A seeded random generator, so that failures can be reproduced.
struct Lehmer: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
