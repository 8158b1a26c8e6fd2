import MatterWire
import Testing

@Suite struct InteractionTests {
    private static let onOff = AttributePath(endpoint: 1, cluster: 6, attribute: 0)
    private static let toggle = CommandPath(endpoint: 1, cluster: 6, command: 2)
    private static let constraint = InteractionStatus(.constraintError, cluster: 4)

    /// Messages with their bytes. A different implementation (circuitmatter) encoded those with a star.
    private static let messages: [(InteractionMessage, String)] = [
        (.status(.invalidSubscription), "1524007D24FF0B18"),  // *
        (
            .read(
                ReadRequest(
                    attributes: [onOff, AttributePath(cluster: 0x28)], events: [EventPath(endpoint: 2)],
                    eventMinimum: 300, versions: [DataVersionFilter(endpoint: 1, cluster: 6, version: 0x1234_5678)])),
            """
            15 3600 17 240201 240306 240400 18 17 240328 18 18 3601 17 240102 18 18 3602 15 25012C01 18 18 2903 \
            3604 15 3700 240101 240206 18 260178563412 18 18 24FF0B 18
            """
        ),
        (
            .subscribe(
                SubscribeRequest(
                    keepsSubscriptions: false, minInterval: 1, maxInterval: 600,
                    read: ReadRequest(
                        attributes: [AttributePath()],
                        events: [EventPath(endpoint: 2, cluster: 0x3B, event: 1, isUrgent: true)],
                        isFabricFiltered: false))),
            "15280024010125025802360317181836041724010224023B24030129041818280724FF0B18"  // *
        ),
        (.subscribed(id: 0xDEAD_BEEF, maxInterval: 600), "152600EFBEADDE2502580224FF0B18"),  // *
        (
            .report(
                ReportData(
                    subscription: 7,
                    attributes: [
                        .data(AttributeData(path: onOff, version: 9, value: .boolean(true))),
                        .status(
                            AttributePath(endpoint: 1, cluster: 6, attribute: 99),
                            InteractionStatus(.unsupportedAttribute)),
                    ],
                    events: [
                        .data(
                            EventData(
                                path: EventPath(endpoint: 2, cluster: 0x3B, event: 1), number: 300, priority: 1,
                                timestamp: .system(5000), value: .fields((0, .unsigned(1))))),
                        .data(
                            EventData(
                                path: EventPath(endpoint: 0, cluster: 0x28, event: 0), number: 1, priority: 2,
                                timestamp: .epoch(9), value: .structure([]))),
                        .status(EventPath(endpoint: 2, cluster: 0x3B, event: 9), InteractionStatus(.unsupportedEvent)),
                    ], hasMore: true, suppressesResponse: true)),
            """
            15 240007 3601 15 3501 240009 3701 240201 240306 240400 18 2902 18 18 \
            15 3500 3700 240201 240306 240463 18 3501 240086 18 18 18 18 \
            3602 15 3501 3700 240102 24023B 240301 18 25012C01 240201 25048813 3507 240001 18 18 18 \
            15 3501 3700 240100 240228 240300 18 240101 240202 240309 3507 18 18 18 \
            15 3500 3700 240102 24023B 240309 18 3501 2400C7 18 18 18 18 2903 2904 24FF0B 18
            """
        ),
        (
            .write(
                WriteRequest(
                    isTimed: true,
                    writes: [
                        AttributeData(
                            path: AttributePath(endpoint: 0, cluster: 0x1F, attribute: 0, isListAppend: true),
                            value: .structure([]))
                    ], hasMore: true)),
            "15 2800 2901 3602 15 3701 240200 24031F 240400 3405 18 3502 18 18 18 2903 24FF0B 18"
        ),
        (
            .written([AttributeStatus(AttributePath(endpoint: 0, cluster: 0x28, attribute: 5), constraint)]),
            "15360015370024020024032824040518350124008724010418181824FF0B18"  // *
        ),
        (
            .invoke(InvokeRequest(commands: [InvokeCommand(path: toggle, reference: 2)])),
            "15 2800 2801 3602 15 3700 240001 240106 240202 18 3501 18 240202 18 18 24FF0B 18"
        ),
        (
            .invoked(
                InvokeResponse(responses: [
                    .status(CommandPath(endpoint: 1, cluster: 6, command: 1), constraint, reference: nil)
                ])),
            "152800360115350137002400012401062402011835012400872401041818181824FF0B18"  // *
        ),
        (
            .invoked(
                InvokeResponse(
                    responses: [.command(toggle, .fields((0, .text("x"))), reference: 1)], hasMore: true)),
            "15 2800 3601 15 3500 3700 240001 240106 240202 18 3501 2C000178 18 240201 18 18 18 2902 24FF0B 18"
        ),
        (.timed(milliseconds: 10_000), "15 25001027 24FF0B 18"),
    ]

    @Test("Every message has the expected bytes and is decoded from them") func messages() throws {
        for (message, hexadecimal) in Self.messages {
            #expect(message.encoded == bytes(hexadecimal))
            #expect(message.encodedCount == message.encoded.count)
            #expect(try InteractionMessage(opcode: message.opcode, payload: bytes(hexadecimal)[...]) == message)
        }
        #expect(Set(Self.messages.map(\.0.opcode)) == Set(InteractionOpcode.allCases.map(\.rawValue)))
    }

    @Test("Truncated messages and messages with a wrong type are rejected with a reason") func truncated() {
        for (message, hexadecimal) in Self.messages {
            let all = bytes(hexadecimal)
            for count in 0..<all.count {
                #expect(throws: MatterError.self) {
                    try InteractionMessage(opcode: message.opcode, payload: all.prefix(count))
                }
            }
            #expect(throws: MatterError.self) {
                try InteractionMessage(opcode: message.opcode, payload: TLVValue.list([]).encoded)
            }
        }
        #expect(throws: MatterError.self) { try InteractionMessage(opcode: 0x0B, payload: bytes("1518")) }
        #expect(throws: MatterError.self) { try InteractionMessage(opcode: 0x00, payload: bytes("1518")) }
    }

    @Test(
        "Malformed fields are rejected with invalidAction",
        arguments: [
            (2, "15 3600 17 2900 18 18 18"),  // tag compression
            (2, "15 3600 17 240501 18 18 18"),  // a list index
            (2, "15 3600 15 240201 18 18 18"),  // a structure instead of a list
            (2, "15 3600 17 26020000 0100 18 18 18"),  // an endpoint of more than 16 bits
            (2, "15 240001 18"),  // a number instead of an array
            (2, "15 240301 18"),  // a number instead of a boolean
            (3, "15 2800 240101 18"),  // no largest interval
            (6, "15 3602 15 3701 240200 18 18 18 18"),  // no data
            (8, "15 3602 15 3700 240001 240106 18 18 18 18"),  // no command
            (10, "15 26000000 0100 18"),  // a time of more than 16 bits
            (1, "15 18"),  // no status
        ] as [(UInt8, String)])
    func malformed(opcode: UInt8, hexadecimal: String) throws {
        let error = #expect(throws: MatterError.self) {
            try InteractionMessage(opcode: opcode, payload: bytes(hexadecimal))
        }
        #expect(error?.interactionStatus == .invalidAction)
    }

    @Test("A request with 64 paths is decoded, and one with more is rejected with pathsExhausted") func paths() throws {
        let limit = InteractionMessage.pathLimit
        func decode(_ message: InteractionMessage) throws(MatterError) {
            #expect(try InteractionMessage(opcode: message.opcode, payload: message.encoded) == message)
        }
        func read(_ attributes: Int, _ events: Int) -> InteractionMessage {
            .read(
                ReadRequest(
                    attributes: .init(repeating: Self.onOff, count: attributes),
                    events: .init(repeating: EventPath(), count: events)))
        }
        try decode(read(limit, 0))
        try decode(read(limit - 1, 1))
        let write = AttributeData(path: Self.onOff, value: .boolean(true))
        for message in [
            read(limit + 1, 0), read(0, limit + 1), read(limit, 1),
            .write(WriteRequest(writes: .init(repeating: write, count: limit + 1))),
            .invoke(InvokeRequest(commands: .init(repeating: InvokeCommand(path: Self.toggle), count: limit + 1))),
        ] {
            let error = #expect(throws: MatterError.self) { try decode(message) }
            #expect(error?.interactionStatus == .pathsExhausted)
        }
    }

    @Test("Data version filters after the first 64 are ignored") func versions() throws {
        let filter = DataVersionFilter(endpoint: 1, cluster: 6, version: 1)
        let message = InteractionMessage.read(ReadRequest(versions: .init(repeating: filter, count: 65)))
        let decoded = try InteractionMessage(opcode: message.opcode, payload: message.encoded)
        #expect(decoded == .read(ReadRequest(versions: .init(repeating: filter, count: 64))))
    }

    @Test("Unknown fields and codes of newer revisions are accepted") func newer() throws {
        let wildcardFlags = bytes("15 3600 17 240001 240201 260601000000 18 18 2903 2909 24FF0C 18")
        #expect(throws: MatterError.self) { try InteractionMessage(opcode: 2, payload: wildcardFlags) }
        let flags = bytes("15 3600 17 2800 240201 260601000000 18 18 2903 2909 24FF0C 18")
        #expect(
            try InteractionMessage(opcode: 2, payload: flags)
                == .read(ReadRequest(attributes: [AttributePath(endpoint: 1)])))
        #expect(try InteractionMessage(opcode: 1, payload: bytes("15 2400EE 24FF0C 18")) == .status(.failure))
    }

    @Test("Reports and answers know the bytes that they add to a message") func counts() {
        let report = AttributeReport.data(AttributeData(path: Self.onOff, version: 1, value: .boolean(true)))
        let event = EventReport.status(EventPath(endpoint: 2), InteractionStatus(.unsupportedEvent))
        let reply = InvokeReply.status(Self.toggle, .success, reference: nil)
        func count(_ attributes: Int, _ events: Int) -> Int {
            InteractionMessage.report(
                ReportData(
                    attributes: .init(repeating: report, count: attributes),
                    events: .init(repeating: event, count: events))
            ).encodedCount
        }
        #expect(count(3, 1) - count(2, 1) == report.encodedCount)
        #expect(count(1, 3) - count(1, 2) == event.encodedCount)
        let replies = (1...2).map { count in
            InteractionMessage.invoked(InvokeResponse(responses: .init(repeating: reply, count: count))).encodedCount
        }
        #expect(replies[1] - replies[0] == reply.encodedCount)
    }
}
