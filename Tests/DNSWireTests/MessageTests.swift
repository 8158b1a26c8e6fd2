@testable import DNSWire
import Testing

/// A message with records of each type whose data is decoded and of two other types, with names that share suffixes.
func sampleMessage() -> Message {
    let instance: Name = "Lamp._smartplug._tcp.local"
    let host: Name = "plug-1a2b3c.local"
    return Message(
        id: 0x1234, flags: [.response, .authoritative],
        questions: [Question(name: "_smartplug._tcp.local", type: .ptr, wantsUnicast: true)],
        answers: [
            Record(name: "_smartplug._tcp.local", timeToLive: 4500, data: .ptr(instance)),
            Record(
                name: instance, isCacheFlush: true, timeToLive: 120,
                data: .srv(priority: 1, weight: 2, port: 8080, target: host)),
        ],
        authorities: [Record(name: instance, timeToLive: 4500, data: .txt([3, 0x61, 0x3D, 0x62]))],
        additionals: [
            Record(name: host, isCacheFlush: true, timeToLive: 120, data: .a(IPv4Address(10, 0, 0, 1))),
            Record(name: host, timeToLive: 120, data: .aaaa(IPv6Address(high: 0xFE80 << 48, low: 7))),
            Record(
                name: host, timeToLive: 120, data: .nsec(next: host, types: [.a, .aaaa, RecordType(rawValue: 300)])),
            Record(name: host, timeToLive: 120, data: .other(.hinfo, [1, 0x41, 1, 0x42])),
            Record(name: .root, recordClass: RecordClass(rawValue: 1440), timeToLive: 0, data: .other(.opt, [])),
        ])
}

struct MessageTests {
    @Test("The name of an alias is written in full on request, and otherwise not read") func aliases() throws {
        // A question about "a", and the answer that "a" is an alias of "b.a", which has a pointer to the question.
        func message(_ data: [UInt8]) -> [UInt8] {
            [0, 0, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0x61, 0, 0, 5, 0, 1]
                + [0xC0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
        }
        let compressed = message([1, 0x62, 0xC0, 12])
        let expanded = try Message(decoding: compressed, expandsNames: true)
        #expect(expanded.answers.first?.alias == "b.a")
        #expect(try Message(decoding: compressed).answers.first?.data == .other(.cname, [1, 0x62, 0xC0, 12]))
        #expect(throws: WireError.self) { try Message(decoding: message([9]), expandsNames: true) }
        #expect(try Message(decoding: message([9])).answers.first?.alias == nil)
    }

    @Test("The names of a zone's properties are written in full on request") func primaryServer() throws {
        // A question about "a", and an SOA record with the primary server "n.a" and the mailbox "a".
        let data: [UInt8] = [1, 0x6E, 0xC0, 12, 0xC0, 12] + [UInt8](repeating: 0, count: 20)
        let message: [UInt8] =
            [0, 0, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0x61, 0, 0, 6, 0, 1]
            + [0xC0, 12, 0, 6, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
        let expanded = try Message(decoding: message, expandsNames: true)
        #expect(expanded.answers.first?.primaryServer == "n.a")
        #expect(expanded.answers.first?.alias == nil)
        #expect(try Message(decoding: message).answers.first?.data == .other(.soa, data))
        #expect(throws: WireError.self) { try Message(decoding: message.dropLast(9) + [0], expandsNames: true) }
    }

    @Test("A message with compressed names is encoded to the expected bytes and decoded from them")
    func exactBytesWithCompression() throws {
        let message = Message(
            flags: [.response, .authoritative],
            answers: [
                Record(name: "_x._tcp.local", timeToLive: 4500, data: .ptr("A._x._tcp.local")),
                Record(
                    name: "A._x._tcp.local", isCacheFlush: true, timeToLive: 120,
                    data: .srv(priority: 0, weight: 0, port: 80, target: "h.local")),
            ])
        let expected: [UInt8] =
            [0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 0]
            + [2, 0x5F, 0x78, 4, 0x5F, 0x74, 0x63, 0x70, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0]
            + [0, 12, 0, 1, 0, 0, 0x11, 0x94, 0, 4, 1, 0x41, 0xC0, 12]
            + [0xC0, 37, 0, 33, 0x80, 1, 0, 0, 0, 120, 0, 10, 0, 0, 0, 0, 0, 80, 1, 0x68, 0xC0, 20]
        #expect(try message.encoded() == expected)
        #expect(try Message(decoding: expected) == message)
    }

    @Test(
        "A decoded message equals the encoded one with every kind of compression",
        arguments: [NameCompression.multicast, .unicast, .none])
    func everythingComesBack(compression: NameCompression) throws {
        let bytes = try sampleMessage().encoded(compression: compression)
        #expect(try Message(decoding: bytes) == sampleMessage())
    }

    @Test("Compression for unicast leaves the target of an SRV record uncompressed")
    func unicastLeavesServiceTargetsUncompressed() throws {
        let target = Name("plug.local")
        let message = Message(answers: [
            Record(name: target, timeToLive: 1, data: .srv(priority: 0, weight: 0, port: 1, target: target))
        ])
        #expect(try message.encoded(compression: .unicast).suffix(target.bytes.count) == target.bytes[...])
        #expect(try message.encoded(compression: .multicast).suffix(2) == [0xC0, 12])
    }

    @Test("Names that differ only in case keep their case after compression")
    func namesKeepTheirCaseThroughCompression() throws {
        let message = Message(questions: [
            Question(name: "Lamp.local", type: .any), Question(name: "LAMP.Local", type: .any),
        ])
        let decoded = try Message(decoding: message.encoded())
        #expect(decoded.questions.map(\.name.description) == ["Lamp.local", "LAMP.Local"])
    }

    @Test("The encoder rejects a record beyond its limit, and the message remains complete")
    func encoderRefusesWhatDoesNotFitAndStaysWhole() throws {
        let record = Record(name: "a.local", timeToLive: 1, data: .a(IPv4Address(1, 2, 3, 4)))
        var encoder = MessageEncoder(limit: 12 + 23 + 16)
        let tooMuch = Record(name: "b.local", timeToLive: 1, data: .a(IPv4Address(1, 2, 3, 4)))
        let fits = [
            encoder.append(record, to: .answer), encoder.append(tooMuch, to: .answer),
            encoder.append(record, to: .additional),
        ]
        #expect(fits == [true, false, true])
        let message = try Message(decoding: encoder.finish(flags: .response))
        #expect(message.answers == [record])
        #expect(message.additionals == [record])
        #expect(throws: MessageTooLong(limit: 40)) { try sampleMessage().encoded(limit: 40) }
    }

    @Test("A name beyond the range of pointers is encoded without compression")
    func pointersBeyondTheirReachAreNotUsed() throws {
        let filler = Record(name: "f.local", timeToLive: 1, data: .txt([UInt8](repeating: 0, count: 17000)))
        let far = Record(name: "far.away", timeToLive: 1, data: .ptr("far.away"))
        let message = Message(answers: [filler, far, far])
        #expect(try Message(decoding: message.encoded()) == message)
    }
}

struct MalformedMessageTests {
    private func error(_ bytes: [UInt8]) -> WireError? {
        do {
            _ = try Message(decoding: bytes)
            return nil
        } catch {
            return error
        }
    }

    private let oneQuestion: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    private let oneAnswer: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0]

    @Test("A pointer into a name that contains the pointer is an error")
    func aPointerLeadsToAWholeNameBeforeIt() {
        // The pointer leads to offset 11. The label of two bytes there ends inside the name with the pointer.
        #expect(
            error(Array(oneQuestion.dropLast()) + [2, 1, 0x61, 0xC0, 11])
                == WireError(offset: 11, reason: .overlappingName))
    }

    /// The name of each question is a pointer to the previous name. The first name is the root.
    @Test(
        "The decoder follows pointers up to the limit, and one more is an error",
        arguments: [Name.pointerLimit, Name.pointerLimit + 1])
    func pointersAreFollowedSoFar(count: Int) {
        var message: [UInt8] = [0, 0, 0, 0, 0, UInt8(1 + count), 0, 0, 0, 0, 0, 0] + [0, 0, 1, 0, 1]
        var last = 12
        for _ in 0..<count {
            let start = message.count
            message += [0xC0, UInt8(last), 0, 1, 0, 1]
            last = start
        }
        #expect(
            error(message)
                == (count > Name.pointerLimit ? WireError(offset: 17, reason: .tooManyPointers) : nil))
    }

    @Test("Each malformed message is reported with its offset and reason")
    func eachFaultHasItsPlaceAndReason() {
        #expect(error([]) == WireError(offset: 0, reason: .truncated(needed: 2)))
        #expect(error(oneQuestion) == WireError(offset: 12, reason: .truncated(needed: 1)))
        #expect(error(oneQuestion + [5, 1]) == WireError(offset: 12, reason: .truncated(needed: 5)))
        #expect(error(oneQuestion + [0xC0, 12]) == WireError(offset: 12, reason: .pointerNotBackwards(to: 12)))
        #expect(
            error(oneQuestion + [1, 0x61, 0xC0, 12]) == WireError(offset: 14, reason: .pointerNotBackwards(to: 12)))
        #expect(error(oneQuestion + [0xC0, 99]) == WireError(offset: 12, reason: .pointerNotBackwards(to: 99)))
        #expect(error(oneQuestion + [0x40]) == WireError(offset: 12, reason: .reservedLabel(0x40)))
        #expect(error(oneQuestion + [0]) == WireError(offset: 13, reason: .truncated(needed: 2)))
        let label = [63] + [UInt8](repeating: 0x61, count: 63)
        #expect(
            error(oneQuestion + label + label + label + label + [0]) == WireError(offset: 12, reason: .nameTooLong))
        let header: [UInt8] = [0, 0, 1, 0, 1, 0, 0, 0, 1]
        #expect(
            error(oneAnswer + header + [0, 5, 1, 2, 3, 4, 5])
                == WireError(offset: 23, reason: .dataLength(expected: 4, actual: 5)))
        #expect(error(oneAnswer + header + [0, 9, 1]) == WireError(offset: 23, reason: .truncated(needed: 9)))
        #expect(
            error(oneAnswer + [0, 0, 47, 0, 1, 0, 0, 0, 1, 0, 3, 0, 0, 0]) == WireError(offset: 24, reason: .typeBitmap)
        )
    }

    @Test("A header that announces 65,535 entries per section is an error if the entries are missing")
    func aClaimOfManyRecordsReservesNothing() {
        #expect(error([0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + [0, 0, 1, 0, 1]) != nil)
    }
}
