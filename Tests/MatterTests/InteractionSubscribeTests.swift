@testable import Matter
import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@Suite struct InteractionSubscribeTests {
    private static let switchPaths = [AttributePath(1, FakeNode.outlet, nil)]

    private func request(
        _ paths: [AttributePath] = switchPaths, events: [EventPath] = [], keeps: Bool = true, min: UInt16 = 0,
        max: UInt16 = 60
    ) -> SubscribeRequest {
        SubscribeRequest(
            keepsSubscriptions: keeps, minInterval: min, maxInterval: max,
            read: ReadRequest(attributes: paths, events: events))
    }

    @Test("The first report has all values and needs a status response; then the subscription is confirmed")
    func thePrimingReport() throws {
        var fixture = ServerFixture()
        let sent = fixture.send(.subscribe(request()))
        let report = try #require(sent.report)
        #expect(report.data.count == 4 && !report.suppressesResponse && !sent[0].isLast)
        let id = try #require(report.subscription)
        let response = fixture.send(.status(.success), on: sent[0].exchange)
        #expect(response.count == 1 && response[0].isLast)
        #expect(response.first?.message == .subscribed(id: id, maxInterval: 60))
        #expect(fixture.notices == [.subscribed(id: id, fabric: 1, maxInterval: .seconds(60))])
    }

    @Test("A first report with several chunks names the subscription in each, and the response follows the last one")
    func chunkedPriming() throws {
        var fixture = ServerFixture()
        fixture.server.node.values[FakeNode.large] = .array(
            (0..<90).map { _ in .bytes([UInt8](repeating: 1, count: 60)) })
        let (reports, last) = fixture.reports(.subscribe(request([AttributePath(nil, nil, nil)])))
        #expect(reports.count >= 6)
        #expect(Set(reports.map(\.subscription)).count == 1 && reports[0].subscription != nil)
        #expect(reports.allSatisfy { !$0.suppressesResponse })
        #expect(reports.map(\.hasMore) == reports.indices.map { $0 < reports.count - 1 })
        #expect(last == .subscribed(id: try #require(reports[0].subscription), maxInterval: 60))
    }

    @Test("Changes during the first report are reported afterwards")
    func changesDuringPriming() throws {
        var fixture = ServerFixture()
        let sent = fixture.send(.subscribe(request()))
        fixture.server.node.set(FakeNode.level, .unsigned(77))
        #expect(fixture.wait(.seconds(1)).isEmpty)
        let response = fixture.send(.status(.success), on: sent[0].exchange)
        #expect(response.count == 2)
        guard case .report(let report)? = response.last?.message else {
            Issue.record("no report")
            return
        }
        #expect(report.data.map(\.value) == [.unsigned(77)])
    }

    @Test("Changes are reported at once, and then at most once per minimum interval with the newest values")
    func changesAreCoalesced() throws {
        var fixture = ServerFixture()
        let id = fixture.subscribe(request(min: 10))
        #expect(fixture.wait(.seconds(10)).isEmpty)
        fixture.server.node.set(FakeNode.level, .unsigned(1))
        let first = fixture.wait()
        let report = try #require(first.report)
        #expect(report.subscription == id && report.data.map(\.value) == [.unsigned(1)] && !report.suppressesResponse)
        #expect(report.data.map(\.version) == [101])
        #expect(fixture.confirm(first).last == nil)
        for level in 2...9 {
            fixture.server.node.set(FakeNode.level, .unsigned(UInt64(level)))
            #expect(fixture.wait(.seconds(1)).isEmpty)
        }
        fixture.server.node.set(FakeNode.isOn, .boolean(true))
        let second = fixture.wait(.seconds(2))
        #expect(second.report?.data.map(\.value) == [.boolean(true), .unsigned(9)])
    }

    @Test("Attributes that are not selected, or whose changes are omitted, cause no report")
    func otherChanges() {
        var fixture = ServerFixture()
        #expect(fixture.subscribe(request()) != nil)
        fixture.server.node.set(FakeNode.entries, .array([]))
        fixture.server.node.set(FakeNode.noisy, .unsigned(9))
        #expect(fixture.wait(.seconds(30)).isEmpty)
    }

    @Test("An empty report is sent before the maximum interval ends, and it needs a status response")
    func keepAlive() throws {
        var fixture = ServerFixture()
        let id = fixture.subscribe(request(max: 60))
        #expect(fixture.wait(.seconds(57)).isEmpty)
        let sent = fixture.wait(.seconds(3))
        let report = try #require(sent.report)
        #expect(report == ReportData(subscription: id))
        #expect(fixture.confirm(sent).reports.count == 1)
        #expect(fixture.closed.last == sent[0].exchange)
        #expect(fixture.wait(.seconds(60)).report?.attributes.isEmpty == true)
    }

    @Test("Urgent events are reported at once, others with the next report, and none twice")
    func events() throws {
        var fixture = ServerFixture()
        fixture.server.node.emit(1)
        let urgent = EventPath(endpoint: 1, cluster: FakeNode.outlet, event: 7, isUrgent: true)
        let calm = EventPath(endpoint: 1, cluster: FakeNode.outlet, event: 7)
        let (first, _) = fixture.reports(.subscribe(request([], events: [urgent])))
        #expect(first.map(\.eventNumbers) == [[1]])
        let (second, _) = fixture.reports(.subscribe(request([], events: [calm])), as: ServerFixture.node(2))
        let calmID = try #require(second[0].subscription)
        fixture.server.node.emit(2)
        let sent = fixture.wait()
        #expect(sent.report?.eventNumbers == [2])
        #expect(fixture.confirm(sent).reports.count == 1)
        fixture.server.node.emit(3, fabric: 9)
        #expect(fixture.wait(.seconds(1)).isEmpty)
        let later = fixture.wait(.seconds(60))
        #expect(later.count == 2)
        for next in later {
            guard case .report(let report) = next.message else { continue }
            #expect(report.eventNumbers == (report.subscription == calmID ? [2] : []))
        }
    }

    @Test("A subscription ends if a report is not acknowledged, has no status in time, or is rejected")
    func lostSubscriptions() throws {
        for fault in 0..<3 {
            var fixture = ServerFixture()
            let subscribed = fixture.subscribe(request())
            let id = try #require(subscribed)
            fixture.server.node.set(FakeNode.level, .unsigned(1))
            let sent = fixture.wait()
            let exchange = try #require(sent.first).exchange
            switch fault {
            case 0: fixture.server.failed(exchange)
            case 1: #expect(fixture.wait(.seconds(31)).isEmpty)
            default: #expect(fixture.send(.status(.invalidSubscription), on: exchange).isEmpty)
            }
            _ = fixture.outputs()
            #expect(fixture.notices.last == .subscriptionLost(id: id, fabric: 1))
            fixture.server.node.set(FakeNode.level, .unsigned(2))
            #expect(fixture.wait(.seconds(200)).isEmpty)
            #expect(fixture.server.nextDeadline == nil)
        }
    }

    @Test("Subscriptions end with their session")
    func endedSessions() throws {
        var fixture = ServerFixture()
        #expect(fixture.subscribe(request()) != nil)
        fixture.server.ended(try #require(ServerFixture.node(2).session))
        #expect(fixture.server.subscriptions.count == 1)
        fixture.server.ended(try #require(ServerFixture.admin.session))
        #expect(fixture.server.subscriptions.isEmpty && fixture.server.nextDeadline == nil)
    }

    @Test("A subscription without keepSubscriptions replaces those of the same peer only")
    func replacedSubscriptions() {
        var fixture = ServerFixture()
        for _ in 0..<3 { #expect(fixture.subscribe(request()) != nil) }
        #expect(fixture.subscribe(request(), as: ServerFixture.node(2)) != nil)
        #expect(fixture.subscribe(request(), as: ServerFixture.node(1, fabric: 2)) != nil)
        #expect(fixture.server.subscriptions.count == 5)
        #expect(fixture.subscribe(request(keeps: false)) != nil)
        #expect(fixture.server.subscriptions.count == 3)
    }

    @Test("Wrong intervals and requests without a readable path are rejected")
    func invalidRequests() {
        var fixture = ServerFixture()
        #expect(fixture.send(.subscribe(request(min: 61))).status == .invalidAction)
        #expect(fixture.send(.subscribe(request([]))).status == .invalidAction)
        #expect(fixture.send(.subscribe(request([AttributePath(7, nil, nil)]))).status == .invalidAction)
        #expect(
            fixture.send(.subscribe(request([AttributePath(FakeNode.secret)])), as: ServerFixture.node(2)).status
                == .invalidAction)
        #expect(fixture.server.subscriptions.isEmpty)
    }

    @Test("The maximum interval is at most an hour and at least a second")
    func intervals() {
        var fixture = ServerFixture()
        for (min, max, expected) in [(0, 0, 1), (0, 7200, 3600), (5000, 7200, 5000), (1, 60, 60)]
            as [(UInt16, UInt16, UInt16)]
        {
            guard case .subscribed(_, let interval)? = fixture.reports(.subscribe(request(min: min, max: max))).last
            else {
                Issue.record("no response")
                continue
            }
            #expect(interval == expected)
        }
    }

    @Test("Each fabric can have three subscriptions, even if others use up the table")
    func subscriptionsAreLimited() {
        var fixture = ServerFixture()
        for _ in 0..<SubscriptionLimits.total { #expect(fixture.subscribe(request()) != nil) }
        #expect(fixture.send(.subscribe(request())).status == .resourceExhausted)
        let other = ServerFixture.node(1, fabric: 2)
        for _ in 0..<3 { #expect(fixture.subscribe(request(), as: other) != nil) }
        #expect(fixture.send(.subscribe(request()), as: other).status == .resourceExhausted)
        #expect(fixture.server.subscriptions.values.count { $0.accessor.fabric == 2 } == 3)
        #expect(fixture.server.subscriptions.count == SubscriptionLimits.total)
    }

    @Test("A report is retried after a second if no exchange is available")
    func exhaustedExchanges() {
        var fixture = ServerFixture()
        #expect(fixture.subscribe(request()) != nil)
        fixture.opener.isExhausted = true
        fixture.server.node.set(FakeNode.level, .unsigned(1))
        #expect(fixture.wait().isEmpty)
        fixture.opener.isExhausted = false
        #expect(fixture.wait(.milliseconds(900)).isEmpty)
        #expect(fixture.wait(.milliseconds(100)).report?.data.count == 1)
    }

    @Test("A report omits values that the subscriber may no longer read")
    func revokedPrivileges() {
        var fixture = ServerFixture()
        #expect(fixture.subscribe(request(), as: ServerFixture.node(2)) != nil)
        fixture.server.node.granted[2] = nil
        fixture.server.node.set(FakeNode.level, .unsigned(1))
        #expect(
            fixture.wait().allSatisfy { sent in
                if case .report(let report) = sent.message { report.attributes.isEmpty } else { true }
            })
    }
}
