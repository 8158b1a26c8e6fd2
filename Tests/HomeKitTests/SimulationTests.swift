import HomeKit
import ProtocolCore
import TestSupport
import Testing

private typealias Key = SimulatedAccessory.Key

/// Simulates controllers with connections that split, delay and lose data, flash that is slow and fails, and losses of
/// power. All invariants are checked after each step. At the end, a controller must be able to pair.
@Suite struct HomeKitSimulationTests {
    private static let steps = 1200

    @Test(
        "Random faults violate no invariant, and a controller can pair at the end", arguments: 1...40)
    func everythingGoesWrong(_ seed: UInt64) throws {
        var house = try House(seed: seed)
        for _ in 0..<Self.steps { try house.step() }
        try house.rest()
    }

    /// Checks that operations also succeed in the simulation. Otherwise the invariants would not be tested.
    @Test("The simulation reaches pairings, verified sessions, writes and events") func muchOfItGoesWell() throws {
        var reached = Reached()
        for seed in 1...20 as ClosedRange<UInt64> {
            var house = try House(seed: seed)
            for _ in 0..<Self.steps { try house.step() }
            reached += house.reached
        }
        #expect(reached.paired > 10, "\(reached)")
        #expect(reached.verified > 20, "\(reached)")
        #expect(reached.writes > 20, "\(reached)")
        #expect(reached.events > 20, "\(reached)")
    }
}

private struct Reached {
    var paired = 0
    var verified = 0
    var writes = 0
    var events = 0

    static func += (left: inout Reached, right: Reached) {
        left.paired += right.paired
        left.verified += right.verified
        left.writes += right.writes
        left.events += right.events
    }
}

private struct Person {
    enum Phase {
        case away
        case settingUp(SetupAttempt)
        case verifying(VerifyAttempt)
        case verified
    }

    var controller: SimulatedController
    var connection: SimulatedConnection?
    var phase = Phase.away
    /// The bytes of the current request that the accessory has not received yet.
    var outgoing: [UInt8] = []
    var code = SimulatedAccessory.code
    var subscriptions: Set<CharacteristicKey> = []
}

private struct House {
    private var plug: SimulatedAccessory
    private var random: SeededRandom
    private var people: [Person]
    private var attempts: UInt8 = 0
    private(set) var reached = Reached()
    private var starts: UInt8 = 1
    private let seed: UInt64

    init(seed: UInt64) throws {
        (self.seed, random) = (seed, SeededRandom(seed: seed))
        plug = try SimulatedAccessory()
        people = ["owner", "guest", "guesser"].map { Person(controller: SimulatedController($0)) }
        people[2].code = "518-08-583"
    }

    mutating func step() throws {
        let index = Int.random(in: people.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: try sendSome(index)
        case 35..<70: try hearSome(index)
        case 70..<80: try begin(index)
        case 80: if random.chance(0.3) { lose(index) }
        case 81..<84: try begin(index)
        case 84..<90: plug.wait(random.duration(in: .zero ... .milliseconds(300)))
        case 90..<94:
            plug.handle(
                .changed(
                    [
                        Key.power: .number(Double.random(in: -5...20_000, using: &random)),
                        Key.on: .boolean(random.chance(0.5)),
                    ], by: nil))
            plug.handle(.pressed(Key.button, .whole(Int64.random(in: 0...2, using: &random))))
        case 94..<97:
            plug.flashWorks = [true, true, true, true, false, nil].randomElement(using: &random) ?? true
            plug.flashAnswers(random.chance(0.7))
        case 97 where random.chance(0.1): plug.wait(random.duration(in: .zero ... .seconds(90)))
        case 98 where random.chance(0.3): try losePower()
        default: if random.chance(0.05) { plug.handle(.dismissed(nil)) }
        }
        try check()
    }

    private mutating func begin(_ index: Int) throws {
        // A wrong code delays all controllers, so wrong codes are rare.
        guard people[index].outgoing.isEmpty, index < 2 || random.chance(0.1) else { return }
        attempts &+= 1
        guard var connection = people[index].connection else {
            people[index].connection = plug.open()
            return
        }
        switch people[index].phase {
        case .away where people[index].controller.accessoryKey == nil || random.chance(0.1):
            let attempt = try SetupAttempt(people[index].controller, code: people[index].code, secret: attempts)
            people[index].outgoing = try connection.request("POST", "/pair-setup", SetupAttempt.first())
            people[index].phase = .settingUp(attempt)
        case .away:
            let attempt = VerifyAttempt(people[index].controller, secret: attempts)
            people[index].outgoing = try connection.request("POST", "/pair-verify", try attempt.first())
            people[index].phase = .verifying(attempt)
        case .settingUp, .verifying: break
        case .verified: people[index].outgoing = try ask(&connection, index)
        }
        people[index].connection = connection
    }

    private mutating func ask(_ connection: inout SimulatedConnection, _ index: Int) throws -> [UInt8] {
        func put(_ json: String) throws -> [UInt8] {
            try connection.request("PUT", "/characteristics", Array(json.utf8))
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return try connection.request("GET", "/accessories")
        case 1: return try connection.request("GET", "/characteristics?id=1.9,1.10,1.11")
        case 2, 3:
            return try put("{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":\(random.chance(0.5))}]}")
        case 4, 5:
            people[index].subscriptions.formUnion([Key.power, Key.on, Key.button])
            return try put(
                "{\"characteristics\":[{\"aid\":1,\"iid\":9,\"ev\":1},{\"aid\":1,\"iid\":11,\"ev\":1},{\"aid\":1,\"iid\":21,\"ev\":1}]}"
            )
        case 6:
            let other = people[random.chance(0.5) ? 1 : 0].controller
            let body = TLV8([
                TLV8.Item(6, [1]), TLV8.Item(0, [3]), TLV8.Item(1, Array(other.name.utf8)),
                TLV8.Item(3, other.publicKey), TLV8.Item(11, [random.chance(0.5) ? 1 : 0]),
            ])
            return try connection.request("POST", "/pairings", body.encoded)
        default:
            let name = people[random.chance(0.5) ? 1 : 0].controller.name
            return try connection.request("POST", "/pairings", SimulatedAccessory.removal(of: name))
        }
    }

    private mutating func sendSome(_ index: Int) throws {
        guard let connection = people[index].connection, !people[index].outgoing.isEmpty else { return }
        let count = Int.random(in: 1...2000, using: &random)
        let part = Array(people[index].outgoing.prefix(count))
        people[index].outgoing.removeFirst(part.count)
        plug.handle(.received(connection.id, part))
    }

    private mutating func hearSome(_ index: Int) throws {
        guard var connection = people[index].connection else { return }
        try plug.deliver(&connection, atMost: Int.random(in: 1...4000, using: &random))
        people[index].connection = connection
        if let answer = connection.takeAnswer() {
            people[index].connection = connection
            try heard(answer, index)
        }
        if var heard = people[index].connection {
            for event in heard.takeEvents() {
                reached.events += 1
                #expect(!people[index].subscriptions.isEmpty, "seed \(seed): an event without a subscription: \(event)")
            }
            people[index].connection = heard
        }
        if !plug.isOpen(connection), plug.output[connection.id] == nil { lose(index) }
    }

    private mutating func heard(_ answer: SimulatedConnection.Answer, _ index: Int) throws {
        guard var connection = people[index].connection else { return }
        switch people[index].phase {
        case .away: Issue.record("seed \(seed): an answer without a request")
        case .settingUp(var attempt):
            people[index].phase = .away
            guard let items = try? SimulatedAccessory.items(answer) else { return }
            switch items[6]?.first {
            case 2:
                people[index].outgoing = try connection.request("POST", "/pair-setup", try attempt.second(items))
                people[index].phase = .settingUp(attempt)
            case 4:
                #expect(people[index].code == SimulatedAccessory.code, "seed \(seed): a wrong code was accepted")
                people[index].outgoing = try connection.request("POST", "/pair-setup", try attempt.third(items))
                people[index].phase = .settingUp(attempt)
            default:
                reached.paired += 1
                try attempt.finish(items)
                if let (key, id) = attempt.accessory { people[index].controller.learn(key, id) }
                // The new controller may add the other controllers, which then need the accessory's key.
                for other in people.indices {
                    if let (key, id) = attempt.accessory { people[other].controller.learn(key, id) }
                }
            }
        case .verifying(var attempt):
            people[index].phase = .away
            guard let items = try? SimulatedAccessory.items(answer) else { return }
            if items[6] == [2] {
                people[index].outgoing = try connection.request("POST", "/pair-verify", try attempt.second(items))
                people[index].phase = .verifying(attempt)
            } else {
                reached.verified += 1
                connection.encrypt(attempt.shared)
                people[index].phase = .verified
            }
        case .verified:
            if answer.status == 204 { reached.writes += 1 }
            #expect([200, 204, 207].contains(answer.status), "seed \(seed): \(answer.status)")
        }
        people[index].connection = connection
    }

    private mutating func lose(_ index: Int) {
        guard let connection = people[index].connection else { return }
        plug.close(connection)
        people[index].connection = nil
        (people[index].phase, people[index].outgoing, people[index].subscriptions) = (.away, [], [])
    }

    /// Restarts the accessory with the stored records. The connections are lost without a close.
    private mutating func losePower() throws {
        starts &+= 1
        let now = plug.now
        plug = try SimulatedAccessory(plug.disk, seed: starts)
        plug.now = now
        for index in people.indices {
            people[index].connection = nil
            (people[index].phase, people[index].outgoing, people[index].subscriptions) = (.away, [], [])
        }
    }

    private func check() throws {
        #expect(try HomeKitRecords(decoding: plug.disk.encoded) == plug.disk, "seed \(seed)")
        #expect(plug.server.pairings == plug.disk.pairings, "seed \(seed): the server and flash differ")
        #expect(!plug.server.pairings.contains { $0.name == "guesser" }, "seed \(seed)")
        if let next = plug.server.nextDeadline {
            #expect(next > plug.now - .seconds(1), "seed \(seed): a deadline was missed")
        }
        for write in plug.writes { #expect(write.controller.name != "guesser", "seed \(seed)") }
    }

    /// Checks the state after all faults: unverified sessions are closed, and a new owner can pair and verify.
    mutating func rest() throws {
        plug.flashWorks = true
        plug.flashAnswers(true)
        for index in people.indices { lose(index) }
        plug.wait(.seconds(300))
        #expect(plug.server.nextDeadline == nil, "seed \(seed)")
        plug.handle(.dismissed(nil))
        #expect(plug.disk.pairings.isEmpty, "seed \(seed)")
        var (owner, connection) = (SimulatedController("new owner"), plug.open())
        try plug.pair(&owner, &connection)
        try plug.verify(owner, &connection)
        #expect(try plug.ask(&connection, "GET", "/accessories").status == 200, "seed \(seed)")
    }
}
