import ProtocolCore
import TestSupport
import Testing

@testable import PlugModel

@Suite struct SetupCodeTests {
    @Test("The text of a setup code is base32 in groups of four") func theTextIsBase32InGroups() throws {
        // RFC 4648 section 10: the encoding of "foobar" begins with MZXW6YTBOI.
        let code = try SetupCode(text: "MZXW6YTBOI======".replacing("=", with: "A"))
        #expect(code.bytes.prefix(6) == Array("foobar".utf8)[...])
        #expect(code.text == "MZXW-6YTB-OIAA-AAAA")
    }

    @Test("A setup code is unchanged after conversion to text and back") func whatIsWrittenIsRead() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<1000 {
            let code = SetupCode(drawnFrom: &random)
            #expect(code.bytes.count == 10)
            let read = try SetupCode(text: code.text)
            #expect(read == code)
        }
    }

    @Test("Parsing ignores case, spaces and hyphens, and reads 0, 1 and 8 as O, I and B")
    func itIsReadAsPeopleWriteIt() throws {
        let code = try SetupCode(text: "OIBB-EFGH-IJKL-MNOP")
        for text in ["oibbefghijklmnop", " OIBB EFGH IJKL MNOP\n", "0188efgh-ijkl-mnop"] {
            let read = try SetupCode(text: text)
            #expect(read == code)
        }
    }

    @Test(
        "An invalid setup code is rejected with its reason",
        arguments: [
            ("", SetupCodeError.length(atLeast: 0)), ("ABCD", .length(atLeast: 4)),
            ("ABCDEFGHIJKLMNOPQRST", .length(atLeast: 17)), ("ABC%EFGHIJKLMNOP", .character(position: 4)),
            ("ÄBCDEFGHIJKLMNOP", .character(position: 1)), ("ABCDEFGHIJKLMNO9", .character(position: 16)),
        ])
    func whatIsNoCodeIsRefused(text: String, error: SetupCodeError) {
        #expect(throws: error) { try SetupCode(text: text) }
    }

    @Test("The description of a setup code does not reveal it") func aCodeThatIsPrintedByMistakeSaysNothing() throws {
        let code = try SetupCode(text: "ABCD-EFGH-IJKL-MNOP")
        var dumped = ""
        dump(code, to: &dumped)
        for text in ["\(code)", String(reflecting: code), dumped] { #expect(!text.contains("ABCD")) }
    }
}
