import JSONText
import Testing

@Suite struct JSONTextTests {
    @Test("An object is written with its keys in order and with escaped strings")
    func anObjectHasItsKeysInTheirOrder() {
        var object = JSONObject()
        object.add("name", "Küche \"1\"\n\u{9B}")
        object.add("on", true)
        object.add("power", 12.5)
        object.add("whole", 3.0)
        object.add("broken", Double.nan)
        object.add("labels", ["a", "b"])
        #expect(
            object.text
                == #"{"name":"Küche \"1\"\u000a\u009b","on":true,"power":12.5,"whole":3,"broken":null,"labels":["a","b"]}"#
        )
    }

    @Test("Scalars of all kinds are parsed") func scalarsAreReadAsTheyAreWritten() throws {
        let text = #" { "a" : "x\u00e4\ud83d\ude00\n" , "b":-1.5e2,"c":true,"d":null,"e":0 } "#
        let values = try JSONScalars(Array(text.utf8)).values
        #expect(
            values == ["a": .text("xä😀\n"), "b": .number(-150), "c": .boolean(true), "d": .null, "e": .number(0)])
        #expect(try JSONScalars(Array("{}".utf8)).values == [:])
    }

    @Test(
        "An invalid object is reported with the reason and the position of the byte",
        arguments: [
            ("", "expected '{', at byte 1"), ("[1]", "expected '{', at byte 1"), ("{\"a\"}", "expected ':', at byte 5"),
            ("{\"a\":1", "expected '}', at byte 7"), ("{\"a\":{}}", "nested value, at byte 6"),
            ("{\"a\":[]}", "nested value, at byte 6"), ("{\"a\":1e999}", "invalid number, at byte 11"),
            ("{\"a\":1,\"a\":2}", "duplicate key, at byte 13"), ("{\"a\":\"\\x\"}", "invalid escape, at byte 9"),
            ("{\"a\":\"\u{1}\"}", "control character in a string, at byte 8"),
            ("{\"a\":\"b}", "unterminated string, at byte 9"),
            ("{} x", "more than one value, at byte 4"), ("{\"a\":tru}", "invalid number, at byte 6"),
        ])
    func anErrorSaysWhere(_ text: String, _ words: String) {
        #expect(throws: JSONError(words)) { try JSONScalars(Array(text.utf8)) }
    }

    @Test("An object above the limit of keys is an error") func tooManyKeysAreAnError() {
        func text(_ count: Int) -> [UInt8] {
            Array(("{" + (0..<count).map { "\"\($0)\":0" }.joined(separator: ",") + "}").utf8)
        }
        #expect(throws: Never.self) { try JSONScalars(text(JSONScalars.keyLimit)) }
        #expect(throws: JSONError.self) { try JSONScalars(text(JSONScalars.keyLimit + 1)) }
    }
}
