import LinuxSystem
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import Storage

/// Tests of the paired controllers across restarts and damaged files.
@Suite struct AccessTests {
    private let directories = Directories()
    private let notices = Notices()
    private let tablet = ConnectionID(rawValue: 7)

    private func start(boot: BootID = firstBoot) throws -> StoredPlug {
        try StoredPlug(in: directories, boot: boot, notices: notices)
    }

    /// Pairs with a stranger that uses this code. Returns the result of the session, or nil if the session has none.
    private func pair(_ plug: inout StoredPlug, code: SetupCode?) throws -> Result<PairedPlug, PairingError>? {
        var session = PairingSession(name: "Tablet", code: try #require(code))
        let nonce = [UInt8](repeating: 9, count: 32)
        let begin = session.handle(
            .connected(plugKey: .plug, ownKey: .stranger, nonce: nonce), now: plug.now)
        plug.feed(.server(.opened(PlugServer.Opening(tablet, of: .stranger))))
        defer { plug.feed(.server(.closed(tablet))) }
        var pending = begin
        while !pending.isEmpty {
            switch pending.removeFirst() {
            case .send(let bytes):
                for answer in plug.answers(to: bytes, on: tablet) {
                    pending += session.handle(.received(answer), now: plug.now)
                }
            case .close: break
            case .finish(let result): return result
            }
        }
        return nil
    }

    @Test("A new plug creates its setup code once") func aNewPlugDrawsItsCodeOnce() throws {
        let first = try start().machine.access
        let code = try #require(first.code)
        #expect(directories.text("state/setup-code") == "\(code.text)\n\(code.text)\n")
        #expect(first.controllers.all.isEmpty)
        #expect(try start(boot: secondBoot).machine.access.code == code)
        #expect(notices.troubles.isEmpty)
    }

    @Test("Paired controllers survive a loss of power, and no others get access")
    func whoIsPairedStaysSoOverALossOfPowerAndNobodyElseGetsIn() throws {
        var paired: PairedControllers?
        do {
            var plug = try start()
            let result = try pair(&plug, code: plug.machine.access.code)
            #expect(try result?.get().key == .plug)
            paired = plug.machine.access.controllers
            #expect(paired?.all.map(\.name) == ["Tablet"])
            #expect(plug.events.last?.kind == .controllerPaired(name: "Tablet"))
        }
        var plug = try start(boot: secondBoot)
        #expect(plug.machine.access.controllers == paired)
        // The plug has a controller, so its pairing window stays closed.
        let result = try pair(&plug, code: plug.machine.access.code)
        #expect(result == .failure(.windowClosed))
    }

    @Test("Pairing events survive a kill") func eventsOfPairingSurviveAKill() throws {
        var events: [PlugEvent] = []
        do {
            var plug = try start()
            let wrong = try SetupCode(text: "AAAA-AAAA-AAAA-AAAA")
            #expect(try pair(&plug, code: wrong) == .failure(.wrongCode))
            events = plug.events
            #expect(events.last?.kind == .pairingFailed(failures: 1))
        }
        #expect(try start().events.dropLast() == events[...])
    }

    @Test(
        "With a damaged list of controllers no controller gets access, and the button works",
        arguments: ["", "nonsense", "00 Desk\n", "00 Desk\n00 Disk\n", "Desk\nDesk\n"])
    func aDamagedListLetsNobodyInAndTheButtonStillWorks(text: String) throws {
        do {
            var plug = try start()
            _ = try pair(&plug, code: plug.machine.access.code)
        }
        try directories.write(text, to: "state/controllers")
        let file = "\(directories.state)/controllers"
        // A later start must not treat the plug as never paired.
        for fault in [
            "\(file) is damaged: expected keys and names of controllers", "\(file) was damaged and is now missing",
        ] {
            notices.all = []
            var plug = try start(boot: secondBoot)
            let words = try #require(notices.troubles.first)
            #expect(notices.troubles.count == 1)
            #expect(words.hasPrefix(fault))
            #expect(words.contains("hint: no controller can connect, but the button works. Hold it"))
            #expect(directories.text("state/controllers.damaged") == text)
            #expect(try pair(&plug, code: plug.machine.access.code) == .failure(.windowClosed))
            let before = plug.relayOn
            plug.press()
            #expect(plug.relayOn != before)
        }
    }

    @Test("A list of controllers to which other users have access is rejected")
    func aListThatOthersCouldHaveWrittenLetsNobodyIn() throws {
        try directories.pairDesk()
        try directories.setMode(0o644, of: "state/controllers")
        do {
            var plug = try start()
            #expect(plug.machine.access.controllers.all.isEmpty)
            let words = try #require(notices.troubles.first)
            #expect(
                words.contains("\(directories.state)/controllers: other users have access to it (mode 0644)\nhint: ")
            )
            let before = plug.relayOn
            plug.press()
            #expect(plug.relayOn != before)
        }
        try directories.setMode(0o600, of: "state/controllers")
        #expect(try start(boot: secondBoot).machine.access.controllers.all.count == 1)
    }

    @Test("After the list was lost, a user at the plug can pair again")
    func whoStandsBeforeAPlugThatLostItsListPairsAnew() throws {
        try directories.write("nonsense", to: "state/controllers")
        do {
            var plug = try start()
            plug.edge(down: true)
            plug.run(for: .seconds(6))
            plug.edge(down: false)
            let result = try pair(&plug, code: plug.machine.access.code)
            #expect(try result?.get().key == .plug)
        }
        #expect(try start().machine.access.controllers.all.map(\.key) == [.stranger])
    }

    @Test("A damaged setup code is not replaced, and pairing is disabled")
    func aDamagedCodeIsNotReplacedAndPairsNobody() throws {
        try directories.write("0123", to: "state/setup-code")
        do {
            var plug = try start()
            #expect(plug.machine.access.code == nil)
            #expect(notices.troubles.count == 1)
            #expect(
                notices.troubles.first?.contains("hint: the plug cannot be paired; existing pairings are kept.") == true
            )
            #expect(try pair(&plug, code: .label) == .failure(.windowClosed))
        }
        #expect(try start().machine.access.code == nil)
    }

    @Test("A list of sixteen long keys and unusual names is restored")
    func aListOfSixteenLongKeysAndStrangeNamesComesBack() throws {
        var controllers = PairedControllers()
        for number in 0..<16 as Range<UInt8> {
            let key = try #require(PublicKey(bytes: [UInt8](repeating: number, count: PublicKey.longest)))
            let name = "\(number) % \n\r\n\u{0} Küche"
            let next = try #require(PublicKey(bytes: [UInt8](repeating: 100 + number, count: PublicKey.longest)))
            let authority = number.isMultiple(of: 2) ? nil : AuthorityID(bytes: [UInt8](repeating: number, count: 16))
            let isAdded = controllers.add(
                PairedControllers.Controller(key: key, nextKey: next, authority: authority, name: name))
            #expect(isAdded)
        }
        let text = ControllersText.text(controllers)
        #expect(ControllersText.parse(text) == controllers)
        #expect(!text.utf8.contains { $0 < 0x20 })
        #expect(text.utf8.count + 1 < 131_072)
        #expect(ControllersText.text(PairedControllers()) == "")
        #expect(ControllersText.parse("") == PairedControllers())
    }

    @Test("Random lines of a list of controllers are parsed or rejected") func linesOfAnyKindAreReadOrRefused() {
        var random = SeededRandom(seed: 1)
        let pieces = ["00ff", "0", " ", "%", "%25", "%0a", "%zz", "Desk", "ü", ";", "; ", "g"]
        var read = 0
        for _ in 0..<5000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
            guard let controllers = ControllersText.parse(text) else { continue }
            read += 1
            #expect(ControllersText.parse(ControllersText.text(controllers)) == controllers)
        }
        #expect(read > 50)
    }

    @Test("A list of controllers with any damaged byte is rejected") func noSpoiltByteOfTheListIsBelieved() throws {
        try directories.pairDesk()
        let whole = try #require(directories.bytes("state/controllers"))
        let flash = StateDirectory(path: directories.state, files: FileStore())
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 1
            try directories.write(bytes[...], to: "state/controllers")
            guard case .unusable = flash.controllers({ _ in }) else {
                Issue.record("a list with byte \(index) changed was accepted")
                return
            }
        }
        try directories.write(whole[...], to: "state/controllers")
        guard case .value(let controllers) = flash.controllers({ _ in }) else {
            Issue.record("the undamaged list was rejected")
            return
        }
        #expect(controllers == PlugServer.Access.knowing().controllers)
    }
}
