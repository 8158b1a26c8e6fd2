import Matter
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport
import Testing

/// Paths of attributes and commands that the simulations use.
enum MatterPath {
    static let onOff = AttributePath(endpoint: 1, cluster: 0x06, attribute: 0)
    static let nodeLabel = AttributePath(endpoint: 0, cluster: 0x28, attribute: 5)
    static let accessControl = AttributePath(endpoint: 0, cluster: 0x1F, attribute: 0)
    static let off = CommandPath(endpoint: 1, cluster: 0x06, command: 0)
    static let on = CommandPath(endpoint: 1, cluster: 0x06, command: 1)
    static let toggle = CommandPath(endpoint: 1, cluster: 0x06, command: 2)
    static let removeFabric = CommandPath(endpoint: 0, cluster: 0x3E, command: 0x0A)
    static let openBasicWindow = CommandPath(endpoint: 0, cluster: 0x3C, command: 1)
    static let openWindow = CommandPath(endpoint: 0, cluster: 0x3C, command: 0)
    static let allEvents = EventPath(endpoint: nil, cluster: nil, event: nil, isUrgent: false)

    static func read(_ attributes: [AttributePath], events: [EventPath] = []) -> ReadRequest {
        ReadRequest(attributes: attributes, events: events, eventMinimum: nil, versions: [], isFabricFiltered: true)
    }

    static func subscription(
        _ attributes: [AttributePath] = [onOff], minInterval: UInt16 = 0, maxInterval: UInt16 = 60,
        keeps: Bool = false
    ) -> MatterControllerRequest {
        .subscribe(
            SubscribeRequest(
                keepsSubscriptions: keeps, minInterval: minInterval, maxInterval: maxInterval,
                read: read(attributes)))
    }
}

extension SimulatedMatterHouse {
    /// The start of a house with one controller that has commissioned the plug.
    static func commissioned(seed: UInt64, tags: [UInt32] = [], administrator: UInt64? = nil) throws -> Self {
        var house = try SimulatedMatterHouse(seed: seed)
        let controller = try house.add(MatterCertificateIssuer(fabric: 1, seed: seed), tags: tags)
        house.change(controller) { controller, _ in
            if let administrator { controller.administrator = administrator }
        }
        try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        return house
    }

    /// Opens the window and commissions the plug into a new fabric. Returns the new controller.
    @discardableResult
    mutating func commissionAnother() throws -> Int {
        // The plug limits handshakes to one per second.
        run(.seconds(2))
        openWindow()
        let controller = try addFabric()
        try perform(controller, .commission(passcode: MatterSetup.passcode))
        return controller
    }

    /// Reads attributes.
    mutating func read(_ controller: Int, _ attributes: [AttributePath]) throws -> [AttributeReport] {
        guard case .read(let reports, _) = try perform(controller, .read(MatterPath.read(attributes))) else {
            throw MatterControllerFault.invalid("the answer to a read")
        }
        return reports
    }

    /// Reads the state of the relay.
    mutating func isOn(_ controller: Int) throws -> Bool? {
        guard case .data(let data) = try read(controller, [MatterPath.onOff]).first else { return nil }
        return data.value.asBoolean
    }

    /// Reads all events.
    mutating func events(_ controller: Int) throws -> [EventData] {
        let request = MatterControllerRequest.read(MatterPath.read([], events: [MatterPath.allEvents]))
        guard case .read(_, let reports) = try perform(controller, request) else { return [] }
        return reports.compactMap { report in
            if case .data(let data) = report { data } else { nil }
        }
    }

    /// Opens a new session after a restart of the plug, and returns the numbers of the events since the restart.
    mutating func reconnect(_ controller: Int) throws -> [UInt64] {
        try perform(controller, .connect)
        return try events(controller).map(\.number)
    }

    /// Sends a command without fields and returns the status.
    @discardableResult
    mutating func invoke(_ controller: Int, _ path: CommandPath, _ fields: TLVValue = .fields()) throws -> InvokeReply?
    {
        guard case .invoked(let replies) = try perform(controller, .invoke(path, fields)) else { return nil }
        return replies.first
    }

    /// Chooses a cut of the connection and a fault of flash, or one of both.
    mutating func interrupt(_ random: inout SeededRandom) {
        let kind = Int.random(in: 0..<3, using: &random)
        if kind != 0 { faults.passesBeforeCut = Int.random(in: 1...70, using: &random) }
        if kind != 1 {
            let fate = [MatterFlash.Fate.failed, .lostPowerBefore, .lostPowerAfter].randomElement(using: &random)
            let before = Int.random(in: 0...3, using: &random)
            plug.flash.fates = Array(repeating: .written, count: before) + [fate ?? .failed]
        }
        if random.chance(0.3) { (faults.loss, faults.duplication) = (0.2, 0.2) }
        if random.chance(0.3) { faults.delay = .milliseconds(1) ... .milliseconds(180) }
    }

    /// Checks the invariants that hold in every run.
    func check(_ location: SourceLocation = #_sourceLocation) {
        #expect(!isStuck, "seed \(seed): a deadline does not advance", sourceLocation: location)
        #expect(repeatedNonces == 0, "seed \(seed): nonces were repeated", sourceLocation: location)
        #expect(
            (try? MatterRecords(decoding: plug.flash.records.encoded)) == plug.flash.records, "seed \(seed)",
            sourceLocation: location)
        if let deadline = plug.device.nextDeadline, !plug.isOff {
            #expect(deadline > now - .seconds(1), "seed \(seed): a deadline was missed", sourceLocation: location)
        }
    }
}
