import Matter
import MatterCryptography
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport
import Testing

/// Simulates unpaired peers: wrong passcodes and floods of handshakes.
@Suite struct MatterFloodTests {
    /// The number of failed handshakes after which the window closes (Matter 5.5).
    private static let tries = 20

    @Test("Wrong passcodes are slowed down, and the window closes after 20")
    func wrongPasscodes() throws {
        var house = try SimulatedMatterHouse(seed: 1)
        let guesser = try house.addFabric()
        let start = house.now
        var failures = 0
        // A busy device refuses an attempt without counting it.
        for number in 0..<2000 where house.plug.device.window.opensUntil != nil {
            let wrong = UInt32(10_000_000 + number)
            #expect(throws: MatterControllerFault.self) { try house.perform(guesser, .connectWithPasscode(wrong)) }
            failures += 1
            house.run(.milliseconds(100))
        }
        #expect(house.plug.device.window.opensUntil == nil)
        #expect(failures >= Self.tries)
        let counted = house.plug.notices.filter { notice in
            if case .wrongPasscode = notice { true } else { false }
        }
        #expect(counted.count == Self.tries)
        #expect(house.now - start >= .seconds(10), "20 wrong codes in \(house.now - start)")
        #expect(throws: MatterControllerFault.self) {
            try house.perform(guesser, .connectWithPasscode(MatterSetup.passcode))
        }
        house.run(.seconds(60))
        house.openWindow()
        try house.perform(guesser, .commission(passcode: MatterSetup.passcode))
        house.check()
    }

    @Test("A wrong passcode does not prevent the right one")
    func rightAfterWrong() throws {
        var house = try SimulatedMatterHouse(seed: 1)
        let controller = try house.addFabric()
        for _ in 0..<3 {
            #expect(throws: MatterControllerFault.self) {
                try house.perform(controller, .commission(passcode: 10_000_001))
            }
            house.run(.seconds(10))
        }
        try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        house.check()
    }

    @Test("A commissioner that stops in the middle blocks others only for a limited time")
    func abandonedHandshake() throws {
        var house = try SimulatedMatterHouse(seed: 1)
        let (first, second) = (try house.addFabric(), try house.addFabric())
        house.faults.passesBeforeCut = 3
        _ = house.begin(first, .commission(passcode: MatterSetup.passcode))
        house.run(.milliseconds(50))
        house.change(first) { controller, now in controller.restart(now: now) }
        house.faults = .none
        house.run(.seconds(70))
        try house.perform(second, .commission(passcode: MatterSetup.passcode))
        house.check()
    }

    @Test(
        "1,000 unpaired handshakes per second neither disturb a subscription nor need memory without a limit",
        arguments: [false, true])
    func flood(_ windowIsOpen: Bool) throws {
        var house = try SimulatedMatterHouse.commissioned(seed: 1)
        try house.perform(0, MatterPath.subscription())
        if windowIsOpen { house.openWindow() }
        var strangers = MatterStrangers(seed: 1)
        var sizes: [Int] = []
        for second in 1...6 {
            for tenth in 0..<10 {
                for _ in 0..<100 {
                    let (bytes, peer) = try strangers.next()
                    house.inject(bytes, from: peer)
                    house.run(.milliseconds(1))
                }
                let count = (second - 1) * 10 + tenth + 1
                house.changePlug { $0.toggle(now: $1) }
                house.run(.milliseconds(20))
                let heard = house.controllers[0].subscriptions.values.map(\.reports)
                #expect(heard == [count], "report \(count) did not arrive within 20 ms")
            }
            let start = house.now
            #expect(try house.isOn(0) == house.plug.values.isOn)
            #expect(house.now - start < .milliseconds(20))
            sizes.append(MatterStateSize.count(of: house.plug.device))
        }
        #expect(sizes[0] > 1000 && sizes[5] < sizes[0] + sizes[0] / 10, "the state grows: \(sizes)")
        // The limits admit only a few of 6,000 handshakes. Each one is answered with at most five transmissions of one
        // message, and an acknowledgement.
        let answers = house.datagramsToStrangers
        #expect(answers > 10 && answers < 1200, "\(answers) datagrams to strangers")
        // After the flood, a commissioner is admitted again.
        house.run(.seconds(100))
        try house.commissionAnother()
        house.check()
    }
}

/// Unpaired peers, each with its own address, that send only the first message of a handshake.
private struct MatterStrangers {
    private var random: SeededRandom
    private var messages: [(opcode: SecureChannelOpcode, payload: [UInt8])] = []
    private var count: UInt16 = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func next() throws -> (bytes: [UInt8], from: MatterPeer) {
        if messages.isEmpty { try fill() }
        count &+= 1
        let message = messages[Int(count) % messages.count]
        let header = MessageHeader(
            sessionID: 0, counter: UInt32.random(in: 1...UInt32.max, using: &random), source: random.next())
        let inner = ProtocolHeader(
            isInitiator: true, needsAcknowledgement: true, acknowledges: nil, opcode: message.opcode.rawValue,
            exchange: count, protocolID: MatterProtocol.secureChannel)
        let address = [0xFE, 0x80] + (0..<14).map { _ in UInt8.random(in: 0...255, using: &random) }
        return (
            header.encoded + inner.encoded + message.payload,
            MatterPeer(address: address, scope: 2, port: UInt16.random(in: 1024...65_535, using: &random))
        )
    }

    private mutating func fill() throws {
        let issuer = try MatterCertificateIssuer(fabric: 99, seed: 99)
        for number in 0..<20 as Range<UInt8> {
            let randomness = MatterRandomness(seed: Array(repeating: number, count: 32))
            var passcode = PASEInitiator(passcode: 20_202_021, sessionID: 7, randomness: randomness)
            messages.append(passcode.start())
            var keys = randomness
            var certificate = CASEInitiator(
                fabric: try issuer.identity(node: 1, tags: [], key: keys.signingKey()), peer: 2, sessionID: 8,
                resumption: nil, randomness: randomness)
            messages.append(try certificate.start(OpenSSLCryptography()))
        }
    }
}

/// Counts the values of which a state consists, including private ones. It shows whether collections grow.
private enum MatterStateSize {
    static func count(of value: Any, depth: Int = 0) -> Int {
        guard depth < 24 else { return 1 }
        if let bytes = value as? [UInt8] { return 1 + bytes.count / 16 }
        return Mirror(reflecting: value).children.reduce(1) { $0 + count(of: $1.value, depth: depth + 1) }
    }
}
