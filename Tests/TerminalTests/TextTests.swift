import Testing

@testable import Terminal

struct TextTests {
    @Test(
        "A text has its display width in columns",
        arguments: [
            ("Lamp", 4), ("", 0), ("Télé", 4), ("Te\u{301}le\u{301}", 4), ("居間", 4), ("ﾗﾝﾌﾟ", 4), ("한국", 4), ("ｗ", 2),
            ("🖥️", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("👍🏽", 2), ("⏰", 2), ("✔", 1), ("™", 1),
            ("█▁⣿", 3), ("\u{301}", 0), ("1️⃣", 2),
            ("\u{1112}\u{1161}\u{11AB}", 2),
        ])
    func displayWidth(_ text: String, _ columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }

    @Test(
        "Control and direction characters of untrusted text are removed or replaced",
        arguments: [
            ("Lamp \u{1B}[2J\u{1B}]0;title\u{07}", "Lamp [2J]0;title"), ("a\nb\tc\r\n", "a b c  "),
            ("\u{9B}31mred", "31mred"),
            ("left\u{202E}right\u{2066}", "leftright"), ("line\u{2028}end\u{7F}", "line end"),
            ("居間 👩‍👩‍👧 é", "居間 👩‍👩‍👧 é"),
        ])
    func untrustedTextIsMadeSafe(_ text: String, _ safe: String) {
        #expect(safeText(text) == safe)
        #expect(StyledLine(text).text == safe)
    }

    @Test("A line is truncated with an ellipsis") func truncation() {
        #expect(StyledLine("Refrigerator").truncated(to: 6).text == "Refri…")
        #expect(StyledLine("Refrigerator").truncated(to: 12).text == "Refrigerator")
        #expect(StyledLine("居間のランプ").truncated(to: 6).text == "居間…")
        #expect(StyledLine("Lamp").truncated(to: 1).text == "…")
        #expect(StyledLine("Lamp").truncated(to: 0).text == "")
        #expect(StyledLine("Lamp").truncated(to: -1).text == "")
    }

    @Test("A fitted line has exactly the given width") func fittingIsExact() {
        #expect(StyledLine("43.2").fitted(to: 7, .right).text == "   43.2")
        for columns in 0...20 {
            for text in ["Lamp", "居間のランプ", "👩‍👩‍👧 family 👩‍👩‍👧", "a\u{301}\u{302}bc"] {
                #expect(StyledLine(text).fitted(to: columns).width == columns)
                #expect(StyledLine(text).fitted(to: columns, .right).width == columns)
            }
        }
    }

    @Test("Styles become escape sequences only on terminals with colors")
    func stylesBecomeSequencesOnlyWhereThereIsColour() {
        var line = StyledLine("on", Style(.green, bold: true))
        line.append(" 43 W")
        line.append("!", Style(ink: .indexed(208, otherwise: .brightYellow)))
        #expect(line.rendered(.none) == "on 43 W!")
        #expect(line.rendered(.sixteen) == "\u{1B}[1;32mon\u{1B}[0m 43 W\u{1B}[93m!\u{1B}[0m")
        #expect(line.rendered(.many) == "\u{1B}[1;32mon\u{1B}[0m 43 W\u{1B}[38;5;208m!\u{1B}[0m")
        #expect(Style(faint: true, underlined: true, reversed: true).sequence(.sixteen) == "\u{1B}[2;4;7m")
    }
}

struct CapabilitiesTests {
    private func capabilities(_ environment: [String: String], tty: Bool = true) -> Capabilities {
        Capabilities(environment: environment, isTerminal: tty)
    }

    @Test("The environment determines the number of colors of a terminal, and a pipe has none") func colours() {
        #expect(capabilities(["TERM": "xterm-256color"]).colors == .many)
        #expect(capabilities(["TERM": "xterm", "COLORTERM": "truecolor"]).colors == .many)
        #expect(capabilities(["TERM": "xterm"]).colors == .sixteen)
        #expect(capabilities(["TERM": "xterm-256color", "NO_COLOR": "1"]).colors == .none)
        #expect(capabilities(["TERM": "xterm-256color", "NO_COLOR": ""]).colors == .many)
        #expect(capabilities(["TERM": "dumb"]).colors == .none)
        #expect(capabilities([:]).colors == .none)
        #expect(capabilities(["TERM": "xterm-256color"], tty: false).colors == .none)
        #expect(capabilities(["TERM": "vt100"]).colors == .none)
    }

    @Test("The locale and the kind of terminal determine the available characters") func characters() {
        #expect(capabilities(["TERM": "xterm", "LANG": "de_DE.UTF-8"]).hasBraille)
        #expect(capabilities(["TERM": "xterm", "LANG": "C.utf8"]).isUnicode)
        #expect(!capabilities(["TERM": "xterm", "LANG": "de_DE.UTF-8", "LC_ALL": "C"]).isUnicode)
        #expect(capabilities(["TERM": "xterm", "LANG": "C", "LC_CTYPE": "C.UTF-8", "LC_ALL": ""]).isUnicode)
        #expect(!capabilities(["TERM": "linux", "LANG": "C.UTF-8"]).hasBraille)
        #expect(!capabilities(["TERM": "xterm", "LANG": "C.UTF-8"], tty: false).hasBraille)
        #expect(capabilities(["TERM": "linux", "LANG": "C.UTF-8"]).glyphs == .plain)
    }

    @Test("A dumb terminal and a pipe cannot move the cursor") func cursor() {
        #expect(capabilities(["TERM": "linux"]).movesCursor)
        #expect(!capabilities(["TERM": "dumb"]).movesCursor)
        #expect(!capabilities(["TERM": "xterm"], tty: false).movesCursor)
    }
}
