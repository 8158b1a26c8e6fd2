import PlugModel
import PlugTopics
import ProtocolCore
import Testing

@testable import Fleet

/// The state machine that sends orders as requests. The test acts as the broker and as the house.
private struct Desk {
    static let lamp = PlugID(rawValue: "00000000000a")!

    var machine: FleetRequests
    var now = Instant.zero
    var actions: [FleetRequests.Action] = []

    init(servers: Int = 1) {
        machine = FleetRequests(prefix: "smartplug", client: "me", servers: servers, seed: 3)
    }

    mutating func handle(_ event: FleetRequests.Event) { actions += machine.handle(event, now: now) }

    mutating func order(_ ticket: UInt64, house: String = "elm-5") {
        handle(.ordered(ticket, FleetOrder(house: house, plug: Self.lamp, on: true)))
    }

    mutating func open() {
        handle(.connected)
        handle(.subscribed(isGranted: true))
    }

    /// Returns the publications since the previous call.
    mutating func published() -> [Publication] {
        defer { actions.removeAll { if case .publish = $0 { true } else { false } } }
        return actions.compactMap { if case .publish(_, let publication) = $0 { publication } else { nil } }
    }

    mutating func told() -> [UInt64: FleetOutcome] {
        var told: [UInt64: FleetOutcome] = [:]
        for case .tell(let ticket, let outcome) in actions { told[ticket] = outcome }
        return told
    }

    mutating func answer(_ publication: Publication, _ payload: String, topic: String = "smartplug/answers/me") {
        handle(
            .received(
                BrokerMessage(
                    topic: topic, payload: Array(payload.utf8), correlation: publication.correlation, at: 0)))
    }

    mutating func pass(_ time: Duration) {
        let end = now + time
        while let next = machine.nextDeadline, next <= end {
            now = max(now, next)
            handle(.deadlineReached)
        }
        now = end
    }
}

@Suite struct FleetRequestsTests {
    private let done = #"{"plug":"00000000000a","done":true,"on":true,"seq":42}"#

    @Test("An order is published as a request after the subscription, and its answer is reported once")
    func anOrderIsARequestWithAnAnswer() throws {
        var desk = Desk()
        desk.order(1)
        #expect(desk.actions == [.connect(server: 0)])
        desk.handle(.connected)
        #expect(desk.actions.last == .subscribe("smartplug/answers/me"))
        #expect(desk.published().isEmpty, "an answer before the subscription would be lost")
        desk.handle(.subscribed(isGranted: true))
        let request = try #require(desk.published().first)
        #expect(request.topic == "smartplug/elm-5/00000000000a/set" && request.payload == #"{"on":true}"#)
        #expect(request.responseTopic == "smartplug/answers/me" && request.correlation?.count == 16)
        #expect(!request.isRetained && request.expiry == 10)
        desk.answer(request, done, topic: "smartplug/answers/other")
        #expect(desk.told().isEmpty)
        desk.answer(request, done)
        desk.answer(request, done)
        #expect(desk.told() == [1: .done(on: true, event: 42)])
    }

    @Test("An unanswered request times out after its command has expired")
    func nobodyWhoAnswersMeansThatNothingHappensAnyMore() {
        var desk = Desk()
        desk.order(1)
        desk.open()
        #expect(desk.published().count == 1)
        desk.pass(FleetRequests.patience - .milliseconds(1))
        #expect(desk.told().isEmpty)
        desk.pass(.milliseconds(1))
        #expect(desk.told() == [1: .unanswered])
        #expect(FleetRequests.counting < FleetRequests.patience)
    }

    /// Fault class: a command is performed after its timeout was reported.
    @Test("After a disconnection the same request is published again with its remaining time")
    func afterALostConnectionTheSameRequestGoesOutForTheTimeThatIsLeft() throws {
        var desk = Desk(servers: 2)
        desk.order(1)
        desk.open()
        let first = try #require(desk.published().first)
        desk.pass(.seconds(3))
        desk.handle(.disconnected(reason: "gone"))
        desk.pass(.seconds(2))
        #expect(desk.actions.contains(.connect(server: 1)))
        desk.open()
        let again = try #require(desk.published().first)
        #expect(again.correlation == first.correlation && again.payload == first.payload)
        #expect(again.expiry == 5)
        desk.handle(.disconnected(reason: "gone"))
        desk.pass(.milliseconds(4500))
        desk.open()
        #expect(desk.published().isEmpty, "a request with half a second left must not be published")
        desk.answer(first, done)
        #expect(desk.told() == [1: .done(on: true, event: 42)])
    }

    @Test("An unreachable broker is reported with its reason") func aBrokerThatIsNotThereIsToldWithItsReason() {
        var desk = Desk()
        desk.order(1)
        for _ in 0..<20 {
            desk.handle(.disconnected(reason: "connection refused"))
            desk.pass(.seconds(1))
        }
        #expect(desk.told() == [1: .unreachable("connection refused")])
        #expect(desk.actions.count { $0 == .connect(server: 0) } < 30)
    }

    @Test("A broker that rejects the subscription to answers is reported as unreachable")
    func aBrokerThatGivesNoAnswersIsOfNoUse() {
        var desk = Desk()
        desk.order(1)
        desk.handle(.connected)
        desk.handle(.subscribed(isGranted: false))
        #expect(desk.actions.last == .disconnect)
        desk.handle(.disconnected(reason: "it was ended"))
        desk.pass(FleetRequests.search)
        guard case .unreachable(let reason)? = desk.told()[1] else {
            Issue.record("\(desk.told())")
            return
        }
        #expect(reason.contains("smartplug/answers/me"))
    }

    @Test("Many orders are published within the limit of unanswered requests")
    func manyOrdersGoOutAFewAtATime() throws {
        var desk = Desk()
        for ticket in 1...200 { desk.order(UInt64(ticket), house: "elm-\(ticket % 7)") }
        desk.open()
        var answered = 0
        while answered < 200 {
            let requests = desk.published()
            #expect(requests.count <= FleetRequests.flightLimit)
            try #require(!requests.isEmpty)
            for request in requests { desk.answer(request, done) }
            answered += requests.count
            desk.pass(.seconds(5))
        }
        #expect(desk.told().count == 200 && desk.told().values.allSatisfy { $0 == .done(on: true, event: 42) })
    }

    @Test("An order above the limit is refused immediately") func moreThanTheLimitIsRefusedAtOnce() {
        var desk = Desk()
        for ticket in 1...UInt64(FleetRequests.limit) { desk.order(ticket) }
        #expect(desk.told().isEmpty)
        desk.order(9999)
        guard case .refused? = desk.told()[9999] else {
            Issue.record("\(desk.told())")
            return
        }
    }

    @Test("A request that a house refuses as busy is repeated, and refused at the end of its time")
    func aBusyHouseIsAskedAgain() throws {
        var desk = Desk()
        desk.order(1)
        desk.open()
        let request = try #require(desk.published().first)
        desk.answer(request, #"{"plug":"00000000000a","done":false,"reason":"busy","detail":"too many requests"}"#)
        #expect(desk.told().isEmpty)
        desk.pass(FleetRequests.busyPause)
        let again = try #require(desk.published().first)
        #expect(again.correlation == request.correlation)
        desk.pass(.seconds(8))
        desk.answer(again, #"{"plug":"00000000000a","done":false,"reason":"busy","detail":"too many requests"}"#)
        #expect(desk.told() == [1: .refused("too many requests")])
    }

    @Test(
        "A valid answer is parsed into its outcome",
        arguments: [
            (#"{"done":false,"reason":"protectionTripped","detail":"overload"}"#, FleetOutcome.refused("overload")),
            (#"{"done":false,"reason":"busyish"}"#, .refused("busyish")),
            (#"{"done":false}"#, .refused("no reason given")),
            (#"{"done":true,"on":false}"#, .done(on: false, event: nil)),
            (#"{"done":true,"on":true,"seq":1e300}"#, .done(on: true, event: nil)),
            (#"{"done":true,"on":true,"seq":-1}"#, .done(on: true, event: nil)),
        ])
    func anAnswerIsRead(_ payload: String, _ outcome: FleetOutcome) {
        #expect(FleetOutcome(answer: Array(payload.utf8)) == outcome)
    }

    @Test(
        "An invalid or too large answer is a refusal",
        arguments: ["", "[]", "{", #"{"done":1}"#, #"{"done":true}"#, #"{"done":true,"on":"true"}"#])
    func anAnswerThatIsNoneIsNoSuccess(_ payload: String) {
        guard case .refused = FleetOutcome(answer: Array(payload.utf8)) else {
            Issue.record("\(payload)")
            return
        }
        guard case .refused = FleetOutcome(answer: Array((payload + String(repeating: " ", count: 5000)).utf8)) else {
            Issue.record("\(payload)")
            return
        }
    }

    @Test(
        "An order for a house that is not a valid topic level is refused",
        arguments: ["a/b", "#", "+", "", "häuser", "a b"])
    func aHouseThatIsNoTopicLevelIsNotAskedFor(_ house: String) {
        var desk = Desk()
        desk.order(1, house: house)
        guard case .refused? = desk.told()[1] else {
            Issue.record("\(desk.actions)")
            return
        }
        #expect(desk.actions.count == 1)
    }

    @Test("An idle connection is closed and opened again for the next order")
    func aConnectionThatNobodyNeedsIsEnded() throws {
        var desk = Desk()
        desk.order(1)
        desk.open()
        let request = try #require(desk.published().first)
        desk.answer(request, done)
        desk.pass(FleetRequests.keeping)
        #expect(desk.actions.last == .disconnect)
        desk.handle(.disconnected(reason: "it was ended"))
        #expect(desk.machine.nextDeadline == nil)
        desk.order(2)
        #expect(desk.actions.last == .connect(server: 0))
    }

    @Test("A publication that the broker rejects is reported as refused")
    func whatTheBrokerDoesNotTakeIsRefused() throws {
        var desk = Desk()
        desk.order(1)
        desk.open()
        guard case .publish(let number, _)? = desk.actions.last else {
            Issue.record("\(desk.actions)")
            return
        }
        desk.handle(.acknowledged(number, refusal: nil))
        #expect(desk.told().isEmpty)
        desk.handle(.acknowledged(number, refusal: "late"))
        #expect(desk.told().isEmpty, "the publication has already been acknowledged")
        desk.order(2)
        guard case .publish(let other, _)? = desk.actions.last else {
            Issue.record("\(desk.actions)")
            return
        }
        desk.handle(.acknowledged(other, refusal: "Not authorized"))
        #expect(desk.told() == [2: .refused("the broker rejected the request: Not authorized")])
    }

    @Test("Under random events, each order gets exactly one outcome", arguments: 0..<40 as Range<UInt64>)
    func eachOrderGetsOneLastWord(_ seed: UInt64) {
        var (desk, dice) = (Desk(servers: 3), SeededRandom(seed: seed))
        var requests: [Publication] = []
        for ticket in 1...60 as ClosedRange<UInt64> {
            desk.order(ticket, house: "h\(ticket % 5)")
            requests += desk.published()
            switch Int.random(in: 0..<7, using: &dice) {
            case 0: desk.handle(.connected)
            case 1: desk.handle(.subscribed(isGranted: Int.random(in: 0..<4, using: &dice) > 0))
            case 2: desk.handle(.disconnected(reason: "chance"))
            case 3: if let request = requests.randomElement(using: &dice) { desk.answer(request, done) }
            case 4: desk.pass(.milliseconds(Int64.random(in: 0...4000, using: &dice)))
            case 5: desk.open()
            default: desk.handle(.acknowledged(UInt64.random(in: 0..<40, using: &dice), refusal: nil))
            }
        }
        for _ in 0..<60 {
            desk.pass(.seconds(15))
            desk.open()
        }
        var count: [UInt64: Int] = [:]
        for case .tell(let ticket, _) in desk.actions { count[ticket, default: 0] += 1 }
        #expect(count == Dictionary(uniqueKeysWithValues: (1...60).map { ($0, 1) }))
    }
}
