import PlugModel
import ProtocolCore
import Testing

@testable import PlugTransport

/// The door of a plug in virtual time.
private final class Door {
    var admission: Admission
    var now = Instant.zero
    private var last: UInt64 = 0

    /// What the next start is to know.
    private(set) var kept: [[String]] = []

    init(paired: [String] = []) { admission = Admission(paired: paired) }

    /// The id of the connection if it was admitted.
    func knock(from address: String) -> ConnectionID? {
        last += 1
        let id = ConnectionID(rawValue: last)
        let actions = admission.handle(.accepted(id, from: address), now: now)
        switch actions {
        case [.admit(id)]: return id
        case [.refuse(id)]: return nil
        default:
            Issue.record("unexpected \(actions)")
            return nil
        }
    }

    /// Comes, proves to be a paired controller, and stays.
    func pairedArrival(from address: String, key: PublicKey? = nil) -> ConnectionID? {
        guard let id = knock(from: address) else { return nil }
        tell(.handshakeFinished(id))
        tell(.paired(id, by: key))
        return id
    }

    func tell(_ event: Admission.Event) {
        for action in admission.handle(event, now: now) {
            switch action {
            case .keep(let addresses): kept.append(addresses)
            case .admit, .refuse, .close: Issue.record("unexpected \(action)")
            }
        }
    }

    func reachDeadline() -> [Admission.Action] {
        guard let deadline = admission.nextDeadline else { return [] }
        now = max(now, deadline)
        return admission.handle(.deadlineReached, now: now)
    }
}

@Suite struct AdmissionTests {
    @Test func aHandshakeThatTakesTooLongIsEndedAtItsTime() throws {
        let door = Door()
        let slow = try #require(door.knock(from: "a"))
        door.now = .zero + .seconds(1)
        let quick = try #require(door.knock(from: "a"))
        door.tell(.handshakeFinished(quick))
        #expect(door.admission.nextDeadline == .zero + .seconds(5))
        var ended = door.reachDeadline()
        #expect(ended == [.close(slow)])
        // It is told once, and keeps its place until it is really gone.
        door.tell(.deadlineReached)
        door.tell(.closed(slow))
        // Who has finished the handshake has 120 s to be known.
        #expect(door.admission.nextDeadline == .zero + .seconds(121))
        ended = door.reachDeadline()
        #expect(ended == [.close(quick)])
        door.tell(.closed(quick))
        #expect(door.admission.nextDeadline == nil)
    }

    @Test func whoIsPairedStaysForEver() throws {
        let door = Door()
        let id = try #require(door.pairedArrival(from: "a"))
        #expect(door.admission.nextDeadline == nil)
        door.tell(.closed(id))
        #expect(door.admission.nextDeadline == nil)
    }

    @Test func oneAddressHasThreeHandshakesAndSixConnectionsAtATime() throws {
        let door = Door()
        var ids: [ConnectionID] = []
        for _ in 0..<3 { ids.append(try #require(door.knock(from: "a"))) }
        let fourth = door.knock(from: "a")
        #expect(fourth == nil)
        let other = door.knock(from: "b")
        #expect(other != nil)
        ids.forEach { door.tell(.handshakeFinished($0)) }
        for _ in 0..<3 { ids.append(try #require(door.knock(from: "a"))) }
        ids.suffix(3).forEach { door.tell(.handshakeFinished($0)) }
        door.now = door.now + .seconds(60)
        let seventh = door.knock(from: "a")
        #expect(seventh == nil)
        door.tell(.closed(ids[0]))
        let inItsPlace = door.knock(from: "a")
        #expect(inItsPlace != nil)
    }

    @Test func strangersTogetherHaveEightHandshakesAndTwentyFourConnections() throws {
        let door = Door()
        var ids: [ConnectionID] = []
        for number in 0..<8 { ids.append(try #require(door.knock(from: "\(number)"))) }
        let ninth = door.knock(from: "8")
        #expect(ninth == nil)
        var number = 8
        while ids.count < 24 {
            ids.suffix(8).forEach { door.tell(.handshakeFinished($0)) }
            door.now = door.now + .seconds(2)
            for _ in 0..<8 {
                ids.append(try #require(door.knock(from: "\(number)")))
                number += 1
            }
        }
        ids.suffix(8).forEach { door.tell(.handshakeFinished($0)) }
        door.now = door.now + .seconds(2)
        let beyond = door.knock(from: "beyond")
        #expect(beyond == nil)
        door.tell(.closed(ids[3]))
        let inItsPlace = door.knock(from: "beyond")
        #expect(inItsPlace != nil)
    }

    @Test func fromOneAddressComeSixAtOnceAndThenOneASecond() {
        let door = Door()
        var admitted = 0
        // A thousand a second for ten seconds, each gone at once.
        for _ in 0..<10_000 {
            if let id = door.knock(from: "a") {
                admitted += 1
                door.tell(.closed(id))
            }
            door.now = door.now + .milliseconds(1)
        }
        #expect(admitted == 6 + 9)
        #expect(door.admission.knownAddresses == 1)
    }

    @Test func aFloodFromManyAddressesGetsSixteenAndThenEightASecond() {
        let door = Door()
        var admitted = 0
        for number in 0..<10_000 {
            if let id = door.knock(from: "\(number)") {
                admitted += 1
                door.tell(.closed(id))
            }
            door.now = door.now + .milliseconds(1)
        }
        #expect(admitted == 16 + 79)
        #expect(door.admission.knownAddresses <= 16)
    }

    /// One machine that floods does not use up what all strangers share: a paired controller gets in that this plug has not
    /// heard of since it started.
    @Test func besideAFloodFromOneAddressAnotherGetsIn() {
        let door = Door()
        for step in 0..<5000 {
            if let id = door.knock(from: "flood"), step.isMultiple(of: 2) { door.tell(.closed(id)) }
            if step.isMultiple(of: 1500) {
                let id = door.pairedArrival(from: "controller \(step)")
                #expect(id != nil)
            }
            door.now = door.now + .milliseconds(1)
        }
    }

    @Test func anAddressOfAPairedControllerHasRoomThatNoStrangerTakes() throws {
        let door = Door()
        let first = try #require(door.pairedArrival(from: "controller"))
        door.tell(.closed(first))
        // Strangers hold all handshakes and every token, for an hour.
        for number in 0..<3600 {
            while door.knock(from: "\(number % 250)") != nil {}
            let id = door.pairedArrival(from: "controller")
            #expect(id != nil, "after \(number) s")
            id.map { door.tell(.closed($0)) }
            _ = door.reachDeadline()
            door.now = max(door.now, .zero + .seconds(number))
        }
    }

    @Test func aPairedControllersConnectionsTakeNoStrangersPlace() throws {
        let door = Door()
        // Sixteen controllers of three connections each.
        for controller in 0..<16 {
            door.now = door.now + .seconds(10)
            for _ in 0..<3 { _ = try #require(door.pairedArrival(from: "controller \(controller)")) }
        }
        door.now = door.now + .seconds(10)
        let stranger = door.knock(from: "stranger")
        #expect(stranger != nil)
    }

    @Test func theAddressHeardOfLongestAgoMakesPlace() throws {
        let door = Door()
        for number in 0...16 {
            let id = try #require(door.pairedArrival(from: "controller \(number)"))
            door.tell(.closed(id))
            door.now = door.now + .seconds(1)
        }
        // They take all that strangers have.
        for number in 0..<100 { _ = door.knock(from: "flood \(number)") }
        let forgotten = door.knock(from: "controller 0")
        #expect(forgotten == nil)
        let kept = door.knock(from: "controller 1")
        #expect(kept != nil)
    }

    @Test func whatAnEarlierStartKeptHasRoomFromTheBeginning() {
        let door = Door(paired: ["controller"])
        // They take all that strangers have.
        for number in 0..<100 { _ = door.knock(from: "flood \(number)") }
        let unknown = door.pairedArrival(from: "another")
        #expect(unknown == nil)
        let known = door.pairedArrival(from: "controller")
        #expect(known != nil)
        #expect(door.kept == [], "nothing is new")
    }

    @Test func anAddressIsKeptWhenItIsNew() {
        let door = Door(paired: (0..<16).map { "\($0)" })
        _ = door.pairedArrival(from: "3")
        _ = door.pairedArrival(from: "new")
        _ = door.pairedArrival(from: "new")
        #expect(door.kept == [[1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 3].map { "\($0)" } + ["new"]])
    }

    @Test("A controller with many addresses does not push out the address of another one")
    func oneControllerHasTwoAddresses() throws {
        let door = Door()
        let (owner, viewer) = (PublicKey(bytes: [1]), PublicKey(bytes: [2]))
        _ = try #require(door.pairedArrival(from: "owner", key: owner))
        for number in 0..<40 {
            door.now = door.now + .seconds(2)
            _ = try #require(door.pairedArrival(from: "viewer \(number)", key: viewer))
        }
        #expect(door.kept.last == ["owner", "viewer 38", "viewer 39"])
    }

    /// Whatever is reported in whatever order: the counts come out even, and nothing is left at the end.
    @Test(arguments: 0..<50) func anythingInAnyOrderLeavesNothingBehind(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let door = Door()
        var present: [ConnectionID] = []
        for _ in 0..<2000 {
            door.now = door.now + random.duration(in: .zero ... .milliseconds(300))
            let someone = present.randomElement(using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                if let id = door.knock(from: "\(Int.random(in: 0..<40, using: &random))") { present.append(id) }
            case 2: someone.map { door.tell(.handshakeFinished($0)) }
            case 3: someone.map { door.tell(.paired($0)) }
            case 4:
                guard let someone else { continue }
                present.removeAll { $0 == someone }
                door.tell(.closed(someone))
            case _:
                guard let deadline = door.admission.nextDeadline, deadline <= door.now else { continue }
                for case .close(let id) in door.reachDeadline() {
                    present.removeAll { $0 == id }
                    door.tell(.closed(id))
                }
            }
        }
        present.forEach { door.tell(.closed($0)) }
        door.now = door.now + .seconds(60)
        #expect(door.admission.nextDeadline == nil)
        if let id = door.knock(from: "last") { door.tell(.closed(id)) }
        #expect(door.admission.knownAddresses <= 16 + 1)
        // Every place is free again: eight strangers' handshakes at once.
        let admitted = (0..<8).filter { door.knock(from: "fresh \($0)") != nil }
        #expect(admitted.count == 8)
    }
}
