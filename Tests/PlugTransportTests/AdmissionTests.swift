import PlugModel
import ProtocolCore
import Testing

@testable import PlugTransport

/// The admission of a plug's connections in virtual time.
private final class Door {
    var admission: Admission
    var now = Instant.zero
    private var last: UInt64 = 0

    /// The lists of addresses that are stored for the next start.
    private(set) var kept: [[String]] = []

    init(paired: [String] = []) { admission = Admission(paired: paired) }

    /// Accepts a connection from the address. Returns its id if it was admitted.
    func knock(from address: String, isLocal: Bool = true) -> ConnectionID? {
        last += 1
        let id = ConnectionID(rawValue: last)
        let actions = admission.handle(.accepted(id, from: address, isLocal: isLocal), now: now)
        switch actions {
        case [.admit(id)]: return id
        case [.refuse(id)]: return nil
        default:
            Issue.record("unexpected \(actions)")
            return nil
        }
    }

    /// Accepts a connection that finishes the handshake and belongs to a paired controller.
    func pairedArrival(from address: String, key: PublicKey? = nil) -> ConnectionID? {
        guard let id = knock(from: address) else { return nil }
        tell(.handshakeFinished(id))
        tell(.paired(id, by: key))
        return id
    }

    /// Passes an event for which only `keep` is expected as an action.
    func tell(_ event: Admission.Event) {
        for action in admission.handle(event, now: now) {
            switch action {
            case .keep(let addresses): kept.append(addresses)
            case .admit, .refuse, .close: Issue.record("unexpected \(action)")
            }
        }
    }

    /// Advances the time to the deadline and returns the actions.
    func reachDeadline() -> [Admission.Action] {
        guard let deadline = admission.nextDeadline else { return [] }
        now = max(now, deadline)
        return admission.handle(.deadlineReached, now: now)
    }
}

@Suite struct AdmissionTests {
    @Test("A handshake that exceeds its time limit is closed")
    func aHandshakeThatTakesTooLongIsEndedAtItsTime() throws {
        let door = Door()
        let slow = try #require(door.knock(from: "a"))
        door.now = .zero + .seconds(1)
        let quick = try #require(door.knock(from: "a"))
        door.tell(.handshakeFinished(quick))
        #expect(door.admission.nextDeadline == .zero + .seconds(5))
        var ended = door.reachDeadline()
        #expect(ended == [.close(slow)])
        // The close is requested once, and the connection occupies its place until it is closed.
        door.tell(.deadlineReached)
        door.tell(.closed(slow))
        // After the handshake, a connection has 120 s to be paired.
        #expect(door.admission.nextDeadline == .zero + .seconds(121))
        ended = door.reachDeadline()
        #expect(ended == [.close(quick)])
        door.tell(.closed(quick))
        #expect(door.admission.nextDeadline == nil)
    }

    @Test("A connection of a paired controller has no time limit") func whoIsPairedStaysForEver() throws {
        let door = Door()
        let id = try #require(door.pairedArrival(from: "a"))
        #expect(door.admission.nextDeadline == nil)
        door.tell(.closed(id))
        #expect(door.admission.nextDeadline == nil)
    }

    @Test("An address may have three handshakes and six connections at a time")
    func oneAddressHasThreeHandshakesAndSixConnectionsAtATime() throws {
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

    @Test("All strangers together may have eight handshakes and 24 connections at a time")
    func strangersTogetherHaveEightHandshakesAndTwentyFourConnections() throws {
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

    @Test("An address may open six connections at once and then one per second")
    func fromOneAddressComeSixAtOnceAndThenOneASecond() {
        let door = Door()
        var admitted = 0
        // A thousand connections per second for ten seconds, each closed immediately.
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

    @Test("Many addresses together may open 16 connections at once and then eight per second")
    func aFloodFromManyAddressesGetsSixteenAndThenEightASecond() {
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

    /// A flood from one address must not use up the share of all strangers. A paired controller that the plug has not
    /// seen since its start must be admitted.
    @Test("Addresses of other networks have a separate and smaller share") func distantAddresses() throws {
        let door = Door()
        var admitted = 0
        for number in 0..<10_000 {
            if let id = door.knock(from: "far \(number)", isLocal: false) {
                admitted += 1
                door.tell(.closed(id))
            }
            door.now = door.now + .milliseconds(1)
        }
        #expect(admitted == 4 + 19)
        while door.knock(from: "far", isLocal: false) != nil {}
        door.now = door.now + .seconds(60)
        let first = try #require(door.knock(from: "other", isLocal: false))
        let second = door.knock(from: "other", isLocal: false)
        #expect(second == nil, "one handshake at a time per address")
        door.tell(.handshakeFinished(first))
        // The controllers at home are not affected.
        let paired = try #require(door.pairedArrival(from: "mobile"))
        door.tell(.closed(paired))
        for number in 0..<8 { #expect(door.knock(from: "near \(number)") != nil) }
        for number in 0..<100 { _ = door.knock(from: "flood \(number)", isLocal: false) }
        #expect(
            door.knock(from: "mobile", isLocal: false) != nil, "the address of a paired controller has its own share")
    }

    @Test("A flood from one address does not block other addresses") func besideAFloodFromOneAddressAnotherGetsIn() {
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

    @Test("The address of a paired controller is admitted while strangers use all of their share")
    func anAddressOfAPairedControllerHasRoomThatNoStrangerTakes() throws {
        let door = Door()
        let first = try #require(door.pairedArrival(from: "controller"))
        door.tell(.closed(first))
        // Strangers use all handshakes and all tokens for an hour.
        for number in 0..<3600 {
            while door.knock(from: "\(number % 250)") != nil {}
            let id = door.pairedArrival(from: "controller")
            #expect(id != nil, "after \(number) s")
            id.map { door.tell(.closed($0)) }
            _ = door.reachDeadline()
            door.now = max(door.now, .zero + .seconds(number))
        }
    }

    @Test("Connections of paired controllers do not count as connections of strangers")
    func aPairedControllersConnectionsTakeNoStrangersPlace() throws {
        let door = Door()
        // Sixteen controllers with three connections each.
        for controller in 0..<16 {
            door.now = door.now + .seconds(10)
            for _ in 0..<3 { _ = try #require(door.pairedArrival(from: "controller \(controller)")) }
        }
        door.now = door.now + .seconds(10)
        let stranger = door.knock(from: "stranger")
        #expect(stranger != nil)
    }

    @Test("Beyond 16 addresses of paired controllers, the one that was used longest ago is forgotten")
    func theAddressHeardOfLongestAgoMakesPlace() throws {
        let door = Door()
        for number in 0...16 {
            let id = try #require(door.pairedArrival(from: "controller \(number)"))
            door.tell(.closed(id))
            door.now = door.now + .seconds(1)
        }
        // These connections use the whole share of strangers.
        for number in 0..<100 { _ = door.knock(from: "flood \(number)") }
        let forgotten = door.knock(from: "controller 0")
        #expect(forgotten == nil)
        let kept = door.knock(from: "controller 1")
        #expect(kept != nil)
    }

    @Test("Stored addresses of paired controllers are admitted while strangers use all of their share")
    func whatAnEarlierStartKeptHasRoomFromTheBeginning() {
        let door = Door(paired: ["controller"])
        // These connections use the whole share of strangers.
        for number in 0..<100 { _ = door.knock(from: "flood \(number)") }
        let unknown = door.pairedArrival(from: "another")
        #expect(unknown == nil)
        let known = door.pairedArrival(from: "controller")
        #expect(known != nil)
        #expect(door.kept == [], "the stored addresses have not changed")
    }

    @Test("A new address of a paired controller is stored once") func anAddressIsKeptWhenItIsNew() {
        let door = Door(paired: (0..<16).map { "\($0)" })
        _ = door.pairedArrival(from: "3")
        _ = door.pairedArrival(from: "new")
        _ = door.pairedArrival(from: "new")
        #expect(door.kept == [[1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 3].map { "\($0)" } + ["new"]])
    }

    @Test("A controller with many addresses does not displace the address of another controller")
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

    @Test("After events in any order, closed connections occupy no places", arguments: 0..<50)
    func anythingInAnyOrderLeavesNothingBehind(seed: Int) {
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
        // All places are free: eight strangers may begin a handshake at once.
        let admitted = (0..<8).filter { door.knock(from: "fresh \($0)") != nil }
        #expect(admitted.count == 8)
    }
}
