@testable import Matter
import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@Suite struct InteractionReadTests {
    private func read(
        _ paths: [AttributePath], versions: [DataVersionFilter] = [], as accessor: Accessor = ServerFixture.admin,
        _ fixture: inout ServerFixture
    ) throws -> ReportData {
        try #require(
            fixture.send(.read(ReadRequest(attributes: paths, versions: versions)), as: accessor).report)
    }

    @Test(
        "A concrete path that does not exist or is not permitted is reported with its status",
        arguments: [
            (AttributePath(7, FakeNode.outlet, 0), 1, InteractionStatusCode.unsupportedEndpoint),
            (AttributePath(1, 0x999, 0), 1, .unsupportedCluster),
            (AttributePath(1, FakeNode.outlet, 99), 1, .unsupportedAttribute),
            (AttributePath(FakeNode.secret), 2, .unsupportedAccess),
            // A node without any privilege does not learn which endpoints and clusters exist.
            (AttributePath(7, 0x999, 0), 99, .unsupportedAccess),
        ] as [(AttributePath, UInt64, InteractionStatusCode)])
    func wrongPathsHaveStatuses(path: AttributePath, node: UInt64, expected: InteractionStatusCode) throws {
        var fixture = ServerFixture()
        let report = try read([path], as: ServerFixture.node(node), &fixture)
        #expect(report.codes == [expected])
        #expect(report.data.isEmpty)
    }

    @Test("A value that the node cannot read is reported with the node's status, and omitted from a wildcard")
    func theNodeRejectsAValue() throws {
        var fixture = ServerFixture()
        fixture.server.node.values[FakeNode.level] = nil
        #expect(try read([AttributePath(FakeNode.level)], &fixture).codes == [.unsupportedRead])
        let all = try read([AttributePath(1, FakeNode.outlet, nil)], &fixture)
        #expect(all.codes.isEmpty && all.data.count == 3)
    }

    @Test("Wildcards report what exists and is permitted, each attribute once, without statuses")
    func wildcardsSkipSilently() throws {
        var fixture = ServerFixture()
        let all = try read([AttributePath(nil, nil, nil), AttributePath(1, nil, nil)], &fixture)
        #expect(all.data.count == 11 && all.codes.isEmpty)
        let visible = try read([AttributePath(nil, nil, nil)], as: ServerFixture.node(2), &fixture)
        #expect(visible.data.count == 10)
        #expect(!visible.data.contains { $0.path == AttributePath(FakeNode.secret) })
        for path in [
            AttributePath(7, nil, nil), AttributePath(nil, 0x999, nil), AttributePath(nil, FakeNode.outlet, 99),
        ] {
            let nothing = try read([path], &fixture)
            #expect(nothing.attributes.isEmpty && nothing.suppressesResponse)
        }
        #expect(try read([AttributePath(nil, nil, nil)], as: ServerFixture.node(99), &fixture).attributes.isEmpty)
    }

    @Test("A path with any cluster and a concrete attribute is accepted only for global attributes")
    func wildcardClustersNeedGlobalAttributes() {
        var fixture = ServerFixture()
        let invalid = ReadRequest(attributes: [AttributePath(1, nil, 0)])
        #expect(fixture.send(.read(invalid)).status == .invalidAction)
        let global = ReadRequest(attributes: [AttributePath(1, nil, 0xFFFD)])
        #expect(fixture.send(.read(global)).report != nil)
        let event = ReadRequest(events: [EventPath(endpoint: 1, event: 7)])
        #expect(fixture.send(.read(event)).status == .invalidAction)
    }

    @Test("A cluster is omitted if its data version is the reader's, and wrong paths are still reported")
    func dataVersionsFilterClusters() throws {
        var fixture = ServerFixture()
        let current = DataVersionFilter(endpoint: 1, cluster: FakeNode.outlet, version: 100)
        let paths = [AttributePath(nil, FakeNode.outlet, 0), AttributePath(1, FakeNode.outlet, 99)]
        let report = try read(paths, versions: [current], &fixture)
        #expect(report.data.map(\.path) == [AttributePath(0, FakeNode.outlet, 0)])
        #expect(report.codes == [.unsupportedAttribute])
        fixture.server.node.set(FakeNode.isOn, .boolean(true))
        let changed = try read(paths, versions: [current], &fixture)
        #expect(changed.data.map(\.version) == [100, 101])
    }

    @Test("The only chunk of a read suppresses the response and ends the exchange")
    func aReadEndsWithItsLastChunk() throws {
        var fixture = ServerFixture()
        let sent = fixture.send(.read(ReadRequest(attributes: [AttributePath(FakeNode.level)])))
        let report = try #require(sent.report)
        #expect(sent[0].isLast && report.suppressesResponse && !report.hasMore && report.subscription == nil)
        #expect(fixture.server.nextDeadline == nil)
    }

    @Test("A long report is sent in chunks that fit in a message, each after a status response")
    func longReportsHaveChunks() throws {
        var fixture = ServerFixture()
        let items = (0..<90).map { TLVValue.bytes([UInt8](repeating: UInt8($0), count: 60)) }
        fixture.server.node.values[FakeNode.large] = .array(items)
        let request = InteractionMessage.read(ReadRequest(attributes: [AttributePath(nil, nil, nil)]))
        let (reports, last) = fixture.reports(request)
        #expect(last == nil && reports.count >= 6)
        for (index, report) in reports.enumerated() {
            let isLast = index == reports.count - 1
            #expect(report.hasMore == !isLast)
            #expect(report.suppressesResponse == isLast)
            #expect(InteractionMessage.report(report).encodedCount <= MessageLayer.payloadLimit)
        }
        // The list begins empty, and its items follow in order.
        let parts = reports.flatMap(\.data).filter { $0.path.attribute == 1 && $0.path.cluster == FakeNode.lists }
        #expect(parts.first?.value == .array([]))
        #expect(parts.first?.path.isListAppend == false)
        #expect(parts.dropFirst().allSatisfy { $0.path.isListAppend })
        #expect(parts.dropFirst().map(\.value) == items)
        // All other attributes are reported too.
        #expect(reports.flatMap(\.data).filter { !$0.path.isListAppend }.count == 11)
    }

    @Test("Chunks are filled up to the limit of a message")
    func chunksAreFull() throws {
        var fixture = ServerFixture()
        let items = (0..<300).map { _ in TLVValue.unsigned(1) }
        fixture.server.node.values[FakeNode.large] = .array(items)
        let (reports, _) = fixture.reports(.read(ReadRequest(attributes: [AttributePath(FakeNode.large)])))
        // 300 items of 4 bytes do not fit in one message; each item has a path, which needs 25 bytes.
        #expect(
            reports.count == 1
                || reports.dropLast().allSatisfy {
                    InteractionMessage.report($0).encodedCount > MessageLayer.payloadLimit - 40
                })
        #expect(reports.flatMap(\.data).last?.value == .unsigned(1) || reports.count == 1)
    }

    @Test("A value that no message can hold is reported as exhausted resources")
    func impossibleValues() throws {
        var fixture = ServerFixture()
        fixture.server.node.values[FakeNode.level] = .bytes([UInt8](repeating: 1, count: 1300))
        #expect(try read([AttributePath(FakeNode.level)], &fixture).codes == [.resourceExhausted])
    }

    @Test("A chunked read ends if the reader reports a failure, or does not answer in time")
    func chunkedReadsEnd() throws {
        var fixture = ServerFixture()
        fixture.server.node.values[FakeNode.large] = .array(
            (0..<90).map { _ in .bytes([UInt8](repeating: 1, count: 60)) })
        let request = InteractionMessage.read(ReadRequest(attributes: [AttributePath(FakeNode.large)]))
        let first = try #require(fixture.send(request).first)
        #expect(fixture.send(.status(.failure), on: first.exchange).isEmpty)
        #expect(fixture.closed == [first.exchange])
        let second = try #require(fixture.send(request).first)
        #expect(fixture.wait(.seconds(31)).isEmpty)
        #expect(fixture.closed == [first.exchange, second.exchange])
        #expect(fixture.server.nextDeadline == nil)
    }

    @Test("Events are reported from the minimum on, and those of other fabrics are hidden")
    func eventsHaveAMinimum() throws {
        var fixture = ServerFixture()
        for number in 1...5 { fixture.server.node.emit(UInt64(number)) }
        fixture.server.node.emit(6, fabric: 2)
        fixture.server.node.emit(7, ConcretePath(1, FakeNode.outlet, 8))
        func numbers(_ request: ReadRequest, _ accessor: Accessor) throws -> [UInt64] {
            try #require(fixture.send(.read(request), as: accessor).report).eventNumbers
        }
        let all = EventPath(endpoint: nil, cluster: nil, event: nil)
        #expect(try numbers(ReadRequest(events: [all]), ServerFixture.admin) == [1, 2, 3, 4, 5, 7])
        #expect(try numbers(ReadRequest(events: [all], eventMinimum: 4), ServerFixture.admin) == [4, 5, 7])
        #expect(try numbers(ReadRequest(events: [all], eventMinimum: 4), ServerFixture.node(2)) == [4, 5])
        let press = EventPath(endpoint: 1, cluster: FakeNode.outlet, event: 7)
        let other = ServerFixture.node(1, fabric: 2)
        #expect(try numbers(ReadRequest(events: [press], eventMinimum: 5), other) == [5, 6])
    }

    @Test(
        "A concrete event path that does not exist or is not permitted is reported with its status",
        arguments: [
            (EventPath(endpoint: 7, cluster: FakeNode.outlet, event: 7), 1, InteractionStatusCode.unsupportedEndpoint),
            (EventPath(endpoint: 1, cluster: 0x999, event: 7), 1, .unsupportedCluster),
            (EventPath(endpoint: 1, cluster: FakeNode.outlet, event: 99), 1, .unsupportedEvent),
            (EventPath(endpoint: 1, cluster: FakeNode.outlet, event: 8), 2, .unsupportedAccess),
        ] as [(EventPath, UInt64, InteractionStatusCode)])
    func wrongEventPathsHaveStatuses(path: EventPath, node: UInt64, expected: InteractionStatusCode) throws {
        var fixture = ServerFixture()
        let sent = fixture.send(.read(ReadRequest(events: [path])), as: ServerFixture.node(node))
        #expect(try #require(sent.report).codes == [expected])
    }

    @Test("Malformed and unexpected messages are answered with invalidAction, and stray statuses are not answered")
    func malformedMessages() {
        var fixture = ServerFixture()
        #expect(fixture.sendRaw(0x02, [0x15]).status == .invalidAction)
        #expect(fixture.sendRaw(0x63, [0x15, 0x18]).status == .invalidAction)
        #expect(fixture.send(.report(ReportData())).status == .invalidAction)
        #expect(fixture.send(.status(.success)).isEmpty)
        #expect(fixture.closed.count == 1)
        let paths = (0...InteractionMessage.pathLimit).map { AttributePath(1, UInt32($0), 0) }
        #expect(fixture.send(.read(ReadRequest(attributes: paths))).status == .pathsExhausted)
    }

    @Test("Further interactions are rejected as busy while too many wait for their peers")
    func waitingInteractionsAreLimited() {
        var fixture = ServerFixture()
        for _ in 0..<24 { #expect(fixture.send(.timed(milliseconds: 5000)).status == .success) }
        #expect(fixture.send(.timed(milliseconds: 5000)).status == .busy)
        _ = fixture.wait(.seconds(31))
        #expect(fixture.send(.timed(milliseconds: 5000)).status == .success)
    }
}
