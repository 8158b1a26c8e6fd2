import Matter
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport
import Testing

/// Simulates controllers that do everything at random, on a link that loses, duplicates and reorders datagrams, with
/// flash that fails, and losses of power. All invariants are checked after each step.
@Suite struct MatterRandomHouseTests {
    private static let steps = 60

    @Test(
        "Random faults violate no invariant, and a controller can commission the plug at the end",
        arguments: MatterSeeds.sampled(25))
    func everythingGoesWrong(_ seed: UInt64) throws {
        var house = try RandomHouse(seed: seed)
        for _ in 0..<Self.steps { try house.step() }
        try house.rest()
    }

    /// Checks that operations also succeed in the simulation. Otherwise the invariants would not be tested.
    @Test("The random simulation reaches commissionings, sessions, commands and reports") func muchOfItGoesWell() throws
    {
        var reached: [String: Int] = [:]
        for seed in 1...8 as ClosedRange<UInt64> {
            var house = try RandomHouse(seed: seed)
            for _ in 0..<Self.steps { try house.step() }
            reached.merge(house.reached, uniquingKeysWith: +)
        }
        for name in ["commissioned", "connected", "read", "written", "invoked", "subscribed"] {
            #expect(reached[name, default: 0] > 2, "\(name): \(reached)")
        }
    }
}

private struct RandomHouse {
    private static let controllers = 3

    private var house: SimulatedMatterHouse
    private var random: SeededRandom
    private let seed: UInt64
    private var running: [Int: MatterTicket] = [:]
    /// The number of results by their names.
    private(set) var reached: [String: Int] = [:]

    init(seed: UInt64) throws {
        (self.seed, random) = (seed, SeededRandom(seed: seed))
        house = try SimulatedMatterHouse(
            seed: seed,
            faults: MatterLinkFaults(loss: 0.1, duplication: 0.1, delay: .milliseconds(1) ... .milliseconds(60)))
        for _ in 0..<Self.controllers { _ = try house.addFabric() }
    }

    mutating func step() throws {
        let index = Int.random(in: 0..<Self.controllers, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<60: begin(index)
        case 60..<66: house.changePlug { $0.press(now: $1) }
        case 66..<72: house.changePlug { $0.toggle(now: $1) }
        case 72..<75: house.openWindow()
        case 75..<78:
            house.plug.flash.fates = [.written, .failed, .written].shuffled(using: &random)
            house.plug.flash.writeTime = random.duration(in: .zero ... .seconds(2))
        case 78..<81: try losePower()
        case 81..<83:
            let fabric = UInt8.random(in: 1...4, using: &random)
            house.changePlug { $0.handle(.removed(fabric: fabric), now: $1) }
        case 83..<86: house.change(index) { $0.restart(now: $1) }
        case 86..<89: house.change(index) { $0.closeSession(now: $1) }
        case 89..<92: house.change(index) { controller, _ in controller.isSilent.toggle() }
        case 92: house.faults.loss = [0, 0.1, 0.5].randomElement(using: &random) ?? 0
        default: house.run(random.duration(in: .zero ... .seconds(40)))
        }
        house.run(random.duration(in: .zero ... .seconds(3)))
        for (index, ticket) in running { collect(index, ticket) }
        house.check()
    }

    private mutating func begin(_ index: Int) {
        guard running[index] == nil else { return }
        let isPaired = house.plug.device.fabrics.contains {
            $0.fabricID == house.controllers[index].issuer.fabricID
        }
        let hasSession = house.controllers[index].session != nil
        let request: MatterControllerRequest
        switch (isPaired, hasSession) {
        case (false, _): request = .commission(passcode: MatterSetup.passcode)
        case (true, false): request = .connect
        case (true, true): request = self.request()
        }
        running[index] = house.begin(index, request)
    }

    private mutating func request() -> MatterControllerRequest {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .connect
        case 1: .read(MatterPath.read([AttributePath()], events: [MatterPath.allEvents]))
        case 2: .read(MatterPath.read([MatterPath.onOff]))
        case 3: .write([AttributeData(path: MatterPath.nodeLabel, value: .text("lamp \(random.next() % 10)"))])
        case 4: .write([AttributeData(path: MatterPath.onOff, value: .boolean(true))])
        case 5, 6: .invoke([MatterPath.on, MatterPath.off].randomElement(using: &random) ?? MatterPath.on, .fields())
        case 7: .invoke(MatterPath.openBasicWindow, .fields((0, .unsigned(180))), timeout: .seconds(5))
        case 8: MatterPath.subscription([MatterPath.onOff, MatterPath.nodeLabel], keeps: random.chance(0.5))
        default: MatterPath.subscription([AttributePath(endpoint: 1, cluster: nil, attribute: nil)], minInterval: 2)
        }
    }

    private mutating func collect(_ index: Int, _ ticket: MatterTicket) {
        var result: Result<MatterOutcome, MatterControllerFault>?
        house.change(index) { controller, _ in result = controller.takeOutcome(of: ticket) }
        guard let result else {
            // A restarted controller has forgotten its request.
            if !house.controllers[index].isPending(ticket) { running[index] = nil }
            return
        }
        running[index] = nil
        switch result {
        case .success(.commissioned): reached["commissioned", default: 0] += 1
        case .success(.connected): reached["connected", default: 0] += 1
        case .success(.read(let attributes, _)):
            #expect(!attributes.isEmpty, "seed \(seed): an empty answer to a read")
            reached["read", default: 0] += 1
        case .success(.written): reached["written", default: 0] += 1
        case .success(.invoked): reached["invoked", default: 0] += 1
        case .success(.subscribed): reached["subscribed", default: 0] += 1
        case .failure(.invalid(let reason)): Issue.record("seed \(seed): the device answers wrongly: \(reason)")
        case .failure: reached["failed", default: 0] += 1
        }
    }

    private mutating func losePower() throws {
        house.changePlug { plug, _ in plug.losePower() }
        house.run(random.duration(in: .zero ... .seconds(5)))
        try house.restartPlug()
    }

    /// Ends all faults. The plug must show what is in flash, and accept a new controller.
    mutating func rest() throws {
        house.faults = .none
        house.plug.flash.fates = []
        house.plug.flash.writeTime = .milliseconds(5)
        for index in 0..<Self.controllers {
            house.change(index) { controller, now in
                controller.isSilent = false
                controller.restart(now: now)
            }
        }
        house.run(.seconds(300))
        house.check()
        let fabrics = house.plug.device.fabrics.map(\.fabricID)
        try house.restartPlug()
        #expect(house.plug.device.fabrics.map(\.fabricID) == fabrics, "seed \(seed): flash differs from the machine")
        for index in 0..<Self.controllers where fabrics.contains(house.controllers[index].issuer.fabricID) {
            try house.perform(index, .connect)
            #expect(try house.isOn(index) == house.plug.values.isOn, "seed \(seed)")
        }
        let newcomer = try house.commissionAnother()
        #expect(try house.isOn(newcomer) == house.plug.values.isOn, "seed \(seed)")
        for controller in house.controllers {
            #expect(controller.malformedMessages == 0, "seed \(seed): the plug sent malformed messages")
        }
        house.check()
    }
}
