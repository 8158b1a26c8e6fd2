@testable import Matter
import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@Suite struct InteractionWriteTests {
    private func data(
        _ path: ConcretePath, _ value: TLVValue, version: UInt32? = nil, appends: Bool = false
    ) -> AttributeData {
        var target = AttributePath(path)
        target.isListAppend = appends
        return AttributeData(path: target, version: version, value: value)
    }

    @Test(
        "A write that is not possible has a status",
        arguments: [
            (ConcretePath(7, FakeNode.outlet, 1), 1, InteractionStatusCode.unsupportedEndpoint),
            (ConcretePath(1, 0x999, 1), 1, .unsupportedCluster),
            (ConcretePath(1, FakeNode.outlet, 99), 1, .unsupportedAttribute),
            (FakeNode.isOn, 1, .unsupportedWrite), (FakeNode.level, 3, .unsupportedAccess),
            (FakeNode.level, 99, .unsupportedAccess), (FakeNode.guarded, 1, .needsTimedInteraction),
            (FakeNode.level, 1, .success),
        ] as [(ConcretePath, UInt64, InteractionStatusCode)])
    func writesHaveStatuses(path: ConcretePath, node: UInt64, expected: InteractionStatusCode) {
        var fixture = ServerFixture()
        let before = fixture.server.node.values
        let request = WriteRequest(writes: [data(path, .unsigned(5))])
        #expect(fixture.send(.write(request), as: ServerFixture.node(node)).written == [expected])
        #expect((fixture.server.node.values == before) == (expected != .success))
    }

    @Test("The node's status is returned, and later writes of the request are performed")
    func theNodeRejectsAValue() {
        var fixture = ServerFixture()
        let request = WriteRequest(writes: [data(FakeNode.level, .unsigned(300)), data(FakeNode.level, .unsigned(7))])
        #expect(fixture.send(.write(request)).written == [.constraintError, .success])
        #expect(fixture.server.node.values[FakeNode.level] == .unsigned(7))
    }

    @Test("A wildcard endpoint writes to endpoints that accept it and gives no other statuses")
    func wildcardEndpoints() {
        var fixture = ServerFixture()
        func request(_ attribute: UInt32) -> WriteRequest {
            WriteRequest(writes: [
                AttributeData(path: AttributePath(nil, FakeNode.outlet, attribute), value: .unsigned(9))
            ])
        }
        #expect(fixture.send(.write(request(1))).written == [.success, .success])
        #expect(fixture.server.node.values[ConcretePath(0, FakeNode.outlet, 1)] == .unsigned(9))
        #expect(fixture.send(.write(request(0))).written == [])
        let anyCluster = WriteRequest(writes: [AttributeData(path: AttributePath(1, nil, 1), value: .null)])
        #expect(fixture.send(.write(anyCluster)).status == .invalidAction)
    }

    @Test("A write requires the data version that it names, once per cluster")
    func dataVersions() {
        var fixture = ServerFixture()
        let outdated = WriteRequest(writes: [data(FakeNode.level, .unsigned(1), version: 99)])
        #expect(fixture.send(.write(outdated)).written == [.dataVersionMismatch])
        // The first write changes the version, and the second one belongs to the same request.
        let current = WriteRequest(writes: [
            data(FakeNode.level, .unsigned(1), version: 100), data(FakeNode.level, .unsigned(2), version: 100),
        ])
        #expect(fixture.send(.write(current)).written == [.success, .success])
        #expect(fixture.send(.write(current)).written == [.dataVersionMismatch, .dataVersionMismatch])
    }

    @Test("A list is replaced and appended to, also in chunks, with one response at the end")
    func listsAreChunked() throws {
        var fixture = ServerFixture()
        // The entries grant the privilege to write them; the first write removes them all.
        fixture.server.node.entriesGrantAccess = true
        let first = WriteRequest(
            writes: [
                data(FakeNode.entries, .array([])), data(FakeNode.entries, .unsigned(7), appends: true),
            ], hasMore: true)
        let answer = fixture.send(.write(first))
        #expect(answer.status == .success && !answer[0].isLast)
        let second = WriteRequest(writes: [data(FakeNode.entries, .unsigned(8), appends: true)])
        let response = fixture.send(.write(second), on: answer[0].exchange)
        #expect(response.written == [.success, .success, .success] && response[0].isLast)
        #expect(fixture.server.node.values[FakeNode.entries] == .array([.unsigned(7), .unsigned(8)]))
        let scalar = WriteRequest(writes: [data(FakeNode.level, .unsigned(8), appends: true)])
        #expect(fixture.send(.write(scalar)).written == [.unsupportedWrite])
    }

    @Test("An abandoned chunked write frees its exchange")
    func abandonedChunks() throws {
        var fixture = ServerFixture()
        let first = WriteRequest(writes: [data(FakeNode.level, .unsigned(3))], hasMore: true)
        let answer = fixture.send(.write(first))
        #expect(fixture.wait(.seconds(31)).isEmpty)
        #expect(fixture.closed == [answer[0].exchange])
        let wrong = fixture.send(.write(first))
        #expect(fixture.send(.read(ReadRequest()), on: wrong[0].exchange).status == .invalidAction)
    }

    @Test("A write without a response closes the exchange; it cannot be chunked")
    func suppressedResponses() {
        var fixture = ServerFixture()
        var request = WriteRequest(suppressesResponse: true, writes: [data(FakeNode.level, .unsigned(3))])
        #expect(fixture.send(.write(request)).isEmpty)
        #expect(fixture.closed.count == 1)
        #expect(fixture.server.node.values[FakeNode.level] == .unsigned(3))
        request.hasMore = true
        #expect(fixture.send(.write(request)).status == .invalidAction)
    }

    @Test("A fabric-scoped list cannot be written without a fabric")
    func fabricScopedLists() {
        var fixture = ServerFixture()
        let request = WriteRequest(writes: [data(FakeNode.entries, .array([]))])
        #expect(fixture.send(.write(request), as: ServerFixture.commissioner).written == [.unsupportedAccess])
        var added = ServerFixture.commissioner
        added.fabric = 1
        #expect(fixture.send(.write(request), as: added).written == [.success])
    }

    @Test("More results than fit in a response are rejected")
    func tooManyResults() {
        var fixture = ServerFixture()
        let request = WriteRequest(writes: (0..<40).map { _ in data(FakeNode.level, .unsigned(3)) })
        #expect(fixture.send(.write(request)).status == .resourceExhausted)
        let most = WriteRequest(
            writes: (0..<PendingWrite.limit).map {
                data(ConcretePath(0xFFF0, 0xFFFF_FFF0, 0xFFFF_FFF0 + UInt32($0 % 8)), .null)
            })
        let sent = fixture.send(.write(most))
        #expect(sent.written?.count == PendingWrite.limit)
        #expect(sent[0].message.encodedCount <= MessageLayer.payloadLimit)
    }
}

@Suite struct InteractionInvokeTests {
    private func invoke(
        _ path: ConcretePath, fields: TLVValue = .structure([]), isTimed: Bool = false, suppresses: Bool = false
    ) -> InteractionMessage {
        let command = CommandPath(endpoint: path.endpoint, cluster: path.cluster, command: path.member)
        return .invoke(
            InvokeRequest(
                suppressesResponse: suppresses, isTimed: isTimed,
                commands: [InvokeCommand(path: command, fields: fields)]))
    }

    @Test(
        "A command that is not possible has a status",
        arguments: [
            (ConcretePath(7, FakeNode.outlet, 0), 1, InteractionStatusCode.unsupportedEndpoint),
            (ConcretePath(1, 0x999, 0), 1, .unsupportedCluster),
            (ConcretePath(1, FakeNode.outlet, 99), 1, .unsupportedCommand),
            (FakeNode.turnOn, 3, .unsupportedAccess), (FakeNode.turnOn, 99, .unsupportedAccess),
            (FakeNode.guardedCommand, 1, .needsTimedInteraction), (FakeNode.turnOn, 2, .success),
            (FakeNode.fabricCommand, 1, .success),
        ] as [(ConcretePath, UInt64, InteractionStatusCode)])
    func commandsHaveStatuses(path: ConcretePath, node: UInt64, expected: InteractionStatusCode) {
        var fixture = ServerFixture()
        let sent = fixture.send(invoke(path), as: ServerFixture.node(node))
        #expect(sent.invoked == [expected] && sent[0].isLast)
        #expect(fixture.server.node.invoked.isEmpty == (expected != .success))
    }

    @Test("A fabric-scoped command requires a fabric")
    func fabricScopedCommands() {
        var fixture = ServerFixture()
        #expect(
            fixture.send(invoke(FakeNode.fabricCommand), as: ServerFixture.commissioner).invoked
                == [.unsupportedAccess])
    }

    @Test("A response command carries its id and its fields")
    func responseCommands() throws {
        var fixture = ServerFixture()
        let fields = TLVValue.fields((0, .text("hello")))
        let sent = fixture.send(invoke(FakeNode.echo, fields: fields))
        guard case .invoked(let response)? = sent.first?.message else {
            Issue.record("no response")
            return
        }
        let path = CommandPath(endpoint: 1, cluster: FakeNode.outlet, command: 5)
        #expect(response.responses == [.command(path, fields, reference: nil)])
        #expect(!response.suppressesResponse && !response.hasMore)
        let tooLong = TLVValue.fields((0, .bytes([UInt8](repeating: 0, count: 1250))))
        #expect(fixture.send(invoke(FakeNode.echo, fields: tooLong)).invoked == [.resourceExhausted])
    }

    @Test("A command that the plug answers later is answered then, or times out after ten seconds")
    func laterAnswers() throws {
        var fixture = ServerFixture()
        #expect(fixture.send(invoke(FakeNode.ask)).isEmpty)
        fixture.server.answered(99, .status(.success))
        #expect(fixture.outputs().isEmpty)
        fixture.server.answered(1, .status(InteractionStatus(.busy)))
        #expect(fixture.outputs().invoked == [.busy])
        #expect(fixture.send(invoke(FakeNode.ask)).isEmpty)
        #expect(fixture.wait(.seconds(9)).isEmpty)
        #expect(fixture.wait(.seconds(2)).invoked == [.timeout])
        #expect(fixture.notices == [.commandTimedOut])
        fixture.server.answered(2, .status(.success))
        #expect(fixture.outputs().isEmpty)
        #expect(fixture.server.nextDeadline == nil)
    }

    @Test("A suppressed response closes the exchange, also if the plug answers later")
    func suppressedResponses() {
        var fixture = ServerFixture()
        #expect(fixture.send(invoke(FakeNode.turnOn, suppresses: true)).isEmpty)
        #expect(fixture.send(invoke(FakeNode.ask, suppresses: true)).isEmpty)
        #expect(fixture.closed.count == 1)
        fixture.server.answered(2, .status(.success))
        #expect(fixture.outputs().isEmpty)
        #expect(fixture.closed.count == 2)
    }

    @Test("Exactly one command per request is accepted unless the limit is higher")
    func commandsAreLimited() {
        func request(_ paths: [ConcretePath], references: [UInt16?]) -> InteractionMessage {
            .invoke(
                InvokeRequest(
                    commands: zip(paths, references).map { path, reference in
                        InvokeCommand(
                            path: CommandPath(endpoint: path.endpoint, cluster: path.cluster, command: path.member),
                            reference: reference)
                    }))
        }
        var fixture = ServerFixture()
        #expect(fixture.send(request([FakeNode.turnOn, FakeNode.echo], references: [1, 2])).status == .invalidAction)
        #expect(fixture.send(request([], references: [])).status == .invalidAction)
        #expect(fixture.server.node.invoked.isEmpty)
        var batch = ServerFixture(commandLimit: 3)
        #expect(
            batch.send(request([FakeNode.turnOn, FakeNode.echo], references: [1, 2])).invoked == [.success, .success])
        #expect(batch.send(request([FakeNode.turnOn, FakeNode.turnOn], references: [1, 2])).status == .invalidAction)
        #expect(batch.send(request([FakeNode.turnOn, FakeNode.echo], references: [1, 1])).status == .invalidAction)
        #expect(batch.send(request([FakeNode.turnOn, FakeNode.echo], references: [1, nil])).status == .invalidAction)
        #expect(batch.send(request([FakeNode.turnOn, FakeNode.ask], references: [1, 2])).isEmpty)
        batch.server.answered(4, .status(.success))
        #expect(batch.outputs().invoked == [.success, .success])
    }

    @Test("A wildcard endpoint invokes the command on endpoints that have it, and the others give no answer")
    func wildcardEndpoints() {
        var fixture = ServerFixture()
        func request(_ command: UInt32) -> InteractionMessage {
            .invoke(
                InvokeRequest(commands: [
                    InvokeCommand(path: CommandPath(endpoint: nil, cluster: FakeNode.outlet, command: command))
                ]))
        }
        #expect(fixture.send(request(0)).invoked == [.success, .success])
        #expect(fixture.send(request(99)).isEmpty)
        #expect(fixture.closed.count == 1)
    }

    @Test("A timed request permits one write or command within its time")
    func timedRequests() throws {
        var fixture = ServerFixture()
        let write = AttributeData(path: AttributePath(FakeNode.guarded), value: .unsigned(1))
        let timedWrite = InteractionMessage.write(WriteRequest(isTimed: true, writes: [write]))
        let timed = fixture.send(.timed(milliseconds: 500))
        #expect(timed.status == .success && !timed[0].isLast)
        #expect(fixture.wait(.milliseconds(500)).isEmpty)
        #expect(fixture.send(timedWrite, on: timed[0].exchange).written == [.success])

        let second = fixture.send(.timed(milliseconds: 500))
        let command = invoke(FakeNode.guardedCommand, isTimed: true)
        #expect(fixture.send(command, on: second[0].exchange).invoked == [.success])

        let late = fixture.send(.timed(milliseconds: 500))
        #expect(fixture.wait(.milliseconds(501)).isEmpty)
        #expect(fixture.send(command, on: late[0].exchange).status == .timeout)
        #expect(fixture.server.node.invoked.count == 1)
    }

    @Test("Requests that are timed without a timed request, or the reverse, are rejected")
    func timedMismatch() {
        var fixture = ServerFixture()
        let command = invoke(FakeNode.turnOn, isTimed: true)
        #expect(fixture.send(command).status == .timedRequestMismatch)
        #expect(fixture.send(.write(WriteRequest(isTimed: true, writes: []))).status == .timedRequestMismatch)
        let timed = fixture.send(.timed(milliseconds: 500))
        #expect(fixture.send(invoke(FakeNode.turnOn), on: timed[0].exchange).status == .timedRequestMismatch)
        let read = fixture.send(.timed(milliseconds: 500))
        #expect(fixture.send(.read(ReadRequest()), on: read[0].exchange).status == .invalidAction)
        #expect(fixture.server.node.invoked.isEmpty)
    }
}
