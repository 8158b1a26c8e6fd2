import Matter
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport
import Testing

/// Simulates several controllers: writes at the same time, limits of sessions and fabrics, removals, and controllers
/// that do not acknowledge.
@Suite struct MatterLimitTests {
    /// A CASE authenticated tag with version 1, and the subject that admits its holders (Matter 6.6.2.1.2).
    private static let tag: UInt32 = 0x0001_0001
    private static let tagSubject: UInt64 = 0xFFFF_FFFD_0001_0001
    /// Each session needs an exchange and a handshake, so the sessions of the tests are opened one after the other.
    private static let sessionLimit = 16

    @Test("Two controllers that write at once on a bad link see one final state", arguments: MatterSeeds.sampled(20))
    func simultaneousWrites(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var house = try SimulatedMatterHouse.commissioned(seed: seed)
        try house.commissionAnother()
        for controller in 0...1 { try house.perform(controller, MatterPath.subscription()) }
        house.faults = MatterLinkFaults(loss: 0.1, duplication: 0.2, delay: .milliseconds(1) ... .milliseconds(120))
        for round in 0..<12 {
            let label = (0...1).map { "label \(round) of \($0)" }
            let tickets = (0...1).map { controller in
                let write = AttributeData(path: MatterPath.nodeLabel, value: .text(label[controller]))
                let request: MatterControllerRequest =
                    random.chance(0.5)
                    ? .write([write]) : .invoke(random.chance(0.5) ? MatterPath.on : MatterPath.off, .fields())
                return house.begin(controller, request)
            }
            for controller in 0...1 {
                // A request can fail on this link, but never with a wrong answer.
                do { try house.finish(controller, tickets[controller]) } catch MatterControllerFault.unanswered {}
            }
        }
        house.faults = .none
        house.run(.seconds(90))
        let states = try (0...1).map { try house.read($0, [MatterPath.onOff, MatterPath.nodeLabel]) }
        #expect(states[0] == states[1], "seed \(seed)")
        guard case .data(let final) = states[0].first else { throw MatterControllerFault.invalid("the state") }
        #expect(final.value.asBoolean == house.plug.values.isOn, "seed \(seed)")
        for controller in 0...1 {
            for subscription in house.controllers[controller].subscriptions.values {
                guard case .data(let last) = subscription.attributes.last else { continue }
                #expect(last.value == final.value, "seed \(seed): controller \(controller) has an old state")
            }
        }
        house.check()
    }

    @Test("Of two conditional writes with the same data version, only one succeeds")
    func conditionalWrites() throws {
        var house = try SimulatedMatterHouse.commissioned(seed: 1)
        try house.commissionAnother()
        guard case .data(let data) = try house.read(0, [MatterPath.nodeLabel]).first else {
            throw MatterControllerFault.invalid("the label")
        }
        let tickets = (0...1).map { controller in
            let write = AttributeData(path: MatterPath.nodeLabel, version: data.version, value: .text("\(controller)"))
            return house.begin(controller, .write([write]))
        }
        let codes = try (0...1).map { controller in
            guard case .written(let statuses) = try house.finish(controller, tickets[controller]) else {
                throw MatterControllerFault.invalid("the answer to a write")
            }
            return statuses.map(\.status.code)
        }
        #expect(Set(codes) == [[.success], [.dataVersionMismatch]])
    }

    @Test("The 17th session ends the least recently used one, whose controller can return")
    func seventeenSessions() throws {
        var house = try SimulatedMatterHouse.commissioned(
            seed: 1, tags: [Self.tag], administrator: Self.tagSubject)
        let issuer = house.controllers[0].issuer
        for _ in 1...Self.sessionLimit { _ = try house.add(issuer, tags: [Self.tag]) }
        for controller in 1...Self.sessionLimit {
            try house.perform(controller, .connect)
            #expect(try house.isOn(controller) == false)
            house.run(.seconds(1))
        }
        #expect(house.plug.device.fabrics.first?.sessions == Self.sessionLimit)
        // Controller 0 opened the first session and has not used it since.
        #expect(throws: MatterControllerFault.self) { try house.isOn(0) }
        for controller in 1...Self.sessionLimit { #expect(try house.isOn(controller) == false) }
        try house.perform(0, .connect)
        #expect(try house.isOn(0) == false)
        house.check()
    }

    @Test("A node of the fabric without an entry in the access control list has no access")
    func unlistedNode() throws {
        var house = try SimulatedMatterHouse.commissioned(seed: 1)
        let guest = try house.add(house.controllers[0].issuer)
        try house.perform(guest, .connect)
        guard case .status(_, let status) = try house.read(guest, [MatterPath.onOff]).first else {
            throw MatterControllerFault.invalid("access without an entry")
        }
        #expect(status.code == .unsupportedAccess)
        guard case .status(_, let invoked, _) = try house.invoke(guest, MatterPath.on) else {
            throw MatterControllerFault.invalid("a command without an entry")
        }
        #expect(invoked.code == .unsupportedAccess)
        #expect(house.plug.commands.isEmpty)
    }

    @Test("The sixth fabric is refused until one of the five is removed")
    func sixFabrics() throws {
        var house = try SimulatedMatterHouse.commissioned(seed: 1)
        for _ in 2...5 { try house.commissionAnother() }
        #expect(house.plug.device.fabrics.map(\.index) == [1, 2, 3, 4, 5])
        let sixth = try house.addFabric()
        house.run(.seconds(2))
        house.openWindow()
        let full = MatterControllerFault.refused(step: "AddNOC", code: 5)
        #expect(throws: full) { try house.perform(sixth, .commission(passcode: MatterSetup.passcode)) }
        house.run(.seconds(200))
        #expect(house.plug.device.fabrics.map(\.index) == [1, 2, 3, 4, 5])
        for controller in 0..<5 {
            try house.perform(controller, .connect)
            #expect(try house.isOn(controller) == false)
        }
        try house.invoke(0, MatterPath.removeFabric, .fields((0, .unsigned(3))))
        #expect(house.plug.device.fabrics.map(\.index) == [1, 2, 4, 5])
        house.openWindow()
        try house.perform(sixth, .commission(passcode: MatterSetup.passcode))
        #expect(house.plug.device.fabrics.count == 5)
        #expect(try house.isOn(sixth) == false)
        house.check()
    }

    @Test("A removed fabric loses its sessions and subscriptions at once, by a controller or by the owner")
    func removal() throws {
        for isByOwner in [false, true] {
            var house = try SimulatedMatterHouse.commissioned(seed: 1)
            try house.commissionAnother()
            for controller in 0...1 { try house.perform(controller, MatterPath.subscription()) }
            if isByOwner {
                house.changePlug { $0.handle(.removed(fabric: 1), now: $1) }
                house.run(.milliseconds(100))
            } else {
                try house.invoke(1, MatterPath.removeFabric, .fields((0, .unsigned(1))))
            }
            #expect(house.plug.device.fabrics.map(\.index) == [2])
            #expect(house.plug.flash.records == (try MatterRecords(decoding: house.plug.flash.records.encoded)))
            let reports = house.controllers[0].subscriptions.values.map(\.reports)
            house.changePlug { $0.toggle(now: $1) }
            house.run(.seconds(5))
            #expect(house.controllers[0].subscriptions.values.map(\.reports) == reports)
            #expect(house.controllers[1].subscriptions.values.map(\.reports) == [1])
            #expect(throws: MatterControllerFault.self) { try house.isOn(0) }
            #expect(throws: MatterControllerFault.self) { try house.perform(0, .connect) }
            #expect(try house.isOn(1) == true)
            try house.restartPlug()
            #expect(house.plug.device.fabrics.map(\.index) == [2])
            house.check()
        }
    }

    @Test("A controller that removes its own fabric receives the answer")
    func ownRemoval() throws {
        var house = try SimulatedMatterHouse.commissioned(seed: 1)
        let reply = try house.invoke(0, MatterPath.removeFabric, .fields((0, .unsigned(1))))
        guard case .command(_, let fields, _) = reply else { throw MatterControllerFault.invalid("\(reply as Any)") }
        #expect(fields[0]?.asUnsigned == 0)
        house.run(.seconds(5))
        #expect(house.plug.device.fabrics.isEmpty)
        #expect(throws: MatterControllerFault.self) { try house.isOn(0) }
        // Without a fabric, a new window makes the plug available again.
        try house.commissionAnother()
        house.check()
    }

    @Test("A window that a controller opened accepts only the passcode of this controller")
    func enhancedWindow() throws {
        let passcode: UInt32 = 34_567_890
        var house = try SimulatedMatterHouse.commissioned(seed: 1)
        let salt = Array(0..<32) as [UInt8]
        let verifier = try SpakeVerifier(passcode: passcode, salt: salt, iterations: 1000, house.setup.cryptography)
        let fields = TLVValue.fields(
            (0, .unsigned(180)), (1, .bytes(verifier.encoded)), (2, .unsigned(1234)), (3, .unsigned(1000)),
            (4, .bytes(salt)))
        // Without a timed request, the command is refused.
        guard case .status(_, let untimed, _) = try house.invoke(0, MatterPath.openWindow, fields) else {
            throw MatterControllerFault.invalid("the answer to OpenCommissioningWindow")
        }
        #expect(untimed.code == .needsTimedInteraction)
        let answer = try house.perform(0, .invoke(MatterPath.openWindow, fields, timeout: .seconds(5)))
        guard case .invoked(let replies) = answer, case .status(_, let status, _) = replies.first else {
            throw MatterControllerFault.invalid("\(answer)")
        }
        #expect(status.code == .success)
        #expect(house.plug.device.window.isEnhanced)
        let newcomer = try house.addFabric()
        #expect(throws: MatterControllerFault.self) {
            try house.perform(newcomer, .connectWithPasscode(MatterSetup.passcode))
        }
        house.run(.seconds(10))
        try house.perform(newcomer, .commission(passcode: passcode))
        #expect(house.plug.device.fabrics.map(\.index) == [1, 2])
        #expect(house.plug.device.window.opensUntil == nil)
        house.check()
    }

    @Test("A commissioning whose session ends is undone at once, also the added fabric")
    func endedCommissioning() throws {
        var house = try SimulatedMatterHouse(seed: 1)
        let controller = try house.addFabric()
        // The operational session is never established, because the node id is wrong.
        house.change(controller) { controller, _ in controller.deviceNodeForSessions = 0x2222 }
        #expect(throws: MatterControllerFault.self) {
            try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        }
        #expect(house.plug.device.fabrics.count == 1)
        house.change(controller) { controller, now in controller.closeSession(now: now) }
        house.run(.seconds(1))
        #expect(house.plug.device.fabrics.isEmpty)
        try house.restartPlug()
        #expect(house.plug.device.fabrics.isEmpty)
        house.check()
    }

    @Test("A controller that never acknowledges loses its subscription and does not disturb another one")
    func silentController() throws {
        var house = try SimulatedMatterHouse.commissioned(seed: 1)
        try house.commissionAnother()
        for controller in 0...1 { try house.perform(controller, MatterPath.subscription()) }
        house.change(0) { controller, _ in controller.isSilent = true }
        let before = house.datagrams
        for count in 1...40 {
            house.changePlug { $0.toggle(now: $1) }
            house.run(.seconds(1))
            let heard = house.controllers[1].subscriptions.values.map(\.reports)
            #expect(heard == [count], "report \(count) did not arrive within a second")
        }
        let lost = house.plug.notices.contains { notice in
            if case .subscriptionLost = notice { true } else { false }
        }
        #expect(lost, "\(house.plug.notices)")
        // Five transmissions of one report to the silent controller, and a report, its status and an acknowledgement
        // per change to the other one.
        #expect(house.datagrams - before < 40 * 4 + 30, "\(house.datagrams - before) datagrams")
        house.change(0) { controller, _ in controller.isSilent = false }
        try house.perform(0, .connect)
        #expect(try house.isOn(0) == false)
        house.check()
    }
}
