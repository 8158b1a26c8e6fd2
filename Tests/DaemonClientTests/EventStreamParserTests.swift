import Testing

@testable import DaemonClient

@Suite struct EventStreamParserTests {
    private func events(_ text: String, pieces: Int = .max) throws -> [StreamedEvent] {
        var parser = EventStreamParser()
        var rest = Array(text.utf8)[...]
        var events: [StreamedEvent] = []
        while !rest.isEmpty {
            events += try parser.parse(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        return events
    }

    @Test("A message has the id, kind and data of its fields") func aMessageHasItsIdItsKindAndItsData() throws {
        let text = "id: a-1\nevent: plug\ndata: {\"plug\":\"Lamp\"}\n\n"
        let expected = [StreamedEvent(id: "a-1", kind: "plug", data: "{\"plug\":\"Lamp\"}")]
        #expect(try events(text) == expected)
        #expect(try events(text, pieces: 1) == expected)
    }

    @Test(
        "Lines may end with LF, CR or CRLF", arguments: ["\n", "\r", "\r\n"])
    func linesEndInThreeWays(end: String) throws {
        let text = ["data: a", "data:b", "", "data: c", "", ""].joined(separator: end)
        for pieces in 1...text.utf8.count {
            #expect(try events(text, pieces: pieces).map(\.data) == ["a\nb", "c"])
        }
    }

    @Test("Comments and unknown fields are ignored") func commentsAndUnknownFieldsAreNothing() throws {
        #expect(try events(": still here\n\nsomething: else\nnothing\n\n").isEmpty)
    }

    @Test("The id applies to later messages, the kind does not") func theIdHoldsUntilTheNextAndTheKindDoesNot() throws {
        let told = try events("id: 1\nevent: a\ndata: x\n\ndata: y\n\nid\ndata: z\n\n")
        #expect(told.map(\.id) == ["1", "1", ""])
        #expect(told.map(\.kind) == ["a", "message", "message"])
    }

    @Test("An id with a NUL character is ignored") func anIdWithAZeroByteIsNone() throws {
        #expect(try events("id: 1\nid: 2\u{0}\ndata: x\n\n").map(\.id) == ["1"])
    }

    @Test("An incomplete message is not delivered")
    func whatIsNotWholeIsNoMessage() throws { #expect(try events("data: x\n").isEmpty) }

    @Test("A byte order mark at the start is ignored") func aMarkOfByteOrderIsPassedOver() throws {
        #expect(try events("\u{FEFF}data: x\n\n").map(\.data) == ["x"])
    }

    @Test("A message with empty data is delivered, a message without data is not")
    func emptyDataIsAMessageAndNoDataIsNone() throws {
        #expect(try events("data\n\nevent: a\n\n").map(\.data) == [""])
    }

    @Test("The retry field is parsed if it is a number") func theTimeUntilTheNextTryIsANumber() throws {
        var parser = EventStreamParser()
        _ = try parser.parse("retry: 1000\nretry: soon\n".utf8)
        #expect(parser.retry == 1000)
    }

    @Test("A line above the size limit is an error") func aLineWithoutEndIsGivenUp() throws {
        var parser = EventStreamParser()
        _ = try parser.parse([UInt8](repeating: 0x61, count: EventStreamParser.messageLimit))
        #expect(throws: DaemonFault.self) { try parser.parse([0x61]) }
    }

    @Test("A message above the size limit is an error") func aMessageOfEverMoreLinesIsGivenUp() throws {
        var parser = EventStreamParser()
        let line = Array("data: ".utf8) + [UInt8](repeating: 0x61, count: 1 << 20) + [0x0A]
        #expect(throws: DaemonFault.self) { for _ in 0..<5 { _ = try parser.parse(line) } }
    }
}
