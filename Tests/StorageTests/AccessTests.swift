import Appliance
import DurableFiles
import MadeUpKeys
import PlugProtocol
import ProtocolCore
import Testing

@testable import Storage

/// Who is let in, over restarts and damage.
@Suite struct AccessTests {
    private let directories = Directories()
    private let notices = Notices()
    private let tablet = ConnectionID(rawValue: 7)

    private func start(boot: BootID = firstBoot) throws -> StoredPlug {
        try StoredPlug(in: directories, boot: boot, notices: notices)
    }

    /// A stranger pairs with the code on the label.
    private func pair(_ plug: inout StoredPlug, code: SetupCode?) throws -> Result<PairedPlug, PairingError>? {
        var session = PairingSession(name: "Tablet", code: try #require(code))
        let nonce = [UInt8](repeating: 9, count: 32)
        let begin = session.handle(
            .connected(plugKey: .plug, ownKey: .stranger, nonce: nonce), now: plug.now)
        plug.feed(.opened(PlugServer.Opening(tablet, of: .stranger)))
        defer { plug.feed(.closed(tablet)) }
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

    @Test func aNewPlugDrawsItsCodeOnce() throws {
        let first = try start().machine.access
        let code = try #require(first.code)
        #expect(directories.text("state/setup-code") == code.text + "\n")
        #expect(first.controllers.all.isEmpty)
        #expect(try start(boot: secondBoot).machine.access.code == code)
        #expect(notices.troubles.isEmpty)
    }

    @Test func whoIsPairedStaysSoOverALossOfPowerAndNobodyElseGetsIn() throws {
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
        // It has a controller, so its window stays closed.
        let result = try pair(&plug, code: plug.machine.access.code)
        #expect(result == .failure(.windowClosed))
    }

    @Test func eventsOfPairingSurviveAKill() throws {
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

    @Test(arguments: ["", "nonsense", "00 Desk\ncrc32 00000000"])
    func aDamagedListLetsNobodyInAndTheButtonStillWorks(text: String) throws {
        do {
            var plug = try start()
            _ = try pair(&plug, code: plug.machine.access.code)
        }
        try directories.write(text, to: "state/controllers")
        for boot in [secondBoot, firstBoot] {
            notices.all = []
            var plug = try start(boot: boot)
            let words = try #require(notices.troubles.first)
            #expect(notices.troubles.count == 1)
            #expect(words.hasPrefix("\(directories.state)/controllers is damaged: expected a line for each controller"))
            #expect(words.contains("hint: nobody is let in; the button works. Hold it"))
            #expect(directories.text("state/controllers") == text, "it stays, so that no later start opens the window")
            #expect(try pair(&plug, code: plug.machine.access.code) == .failure(.windowClosed))
            plug.press()
            #expect(plug.relayOn)
        }
    }

    @Test func whoStandsBeforeAPlugThatLostItsListPairsAnew() throws {
        try directories.write("nonsense", to: "state/controllers")
        do {
            var plug = try start()
            plug.feed(.buttonEdge(down: true))
            plug.run(for: .seconds(2))
            plug.feed(.buttonEdge(down: false))
            let result = try pair(&plug, code: plug.machine.access.code)
            #expect(try result?.get().key == .plug)
        }
        #expect(try start().machine.access.controllers.all.map(\.key) == [.stranger])
    }

    @Test func aDamagedCodeIsNotReplacedAndPairsNobody() throws {
        try directories.write("0123", to: "state/setup-code")
        var plug = try start()
        #expect(plug.machine.access.code == nil)
        #expect(notices.troubles.count == 1)
        #expect(notices.troubles.first?.contains("hint: the plug cannot be paired; who is paired stays so.") == true)
        #expect(try pair(&plug, code: .label) == .failure(.windowClosed))
        #expect(directories.text("state/setup-code") == "0123")
    }

    @Test func aListOfSixteenLongKeysAndStrangeNamesComesBack() throws {
        var controllers = PairedControllers()
        for number in 0..<16 as Range<UInt8> {
            let key = try #require(PublicKey(bytes: [UInt8](repeating: number, count: PublicKey.longest)))
            let name = "\(number) % \n\r\n\u{0} Küche"
            let isAdded = controllers.add(PairedControllers.Controller(key: key, name: name))
            #expect(isAdded)
        }
        let text = ControllersText.text(controllers)
        #expect(ControllersText.parse(text) == controllers)
        #expect(text.utf8.count < 32_768)
        let empty = PairedControllers()
        #expect(ControllersText.text(empty) == "crc32 00000000")
        #expect(ControllersText.parse("crc32 00000000") == empty)
    }

    @Test func linesOfAnyKindBehindARightChecksumAreReadOrRefused() throws {
        var random = SeededRandom(seed: 1)
        let pieces = ["00ff", "0", " ", "%", "%25", "%0a", "%zz", "Desk", "ü", "\n", "\n\n", "g"]
        var read = 0
        for _ in 0..<5000 {
            let body = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            let text = body.joined() + (body.isEmpty ? "" : "\n")
            let sum = String(Checksum.crc32(Array(text.utf8).span), radix: 16)
            let whole = text + "crc32 " + String(repeating: "0", count: 8 - sum.count) + sum
            guard let controllers = ControllersText.parse(whole) else { continue }
            read += 1
            #expect(ControllersText.parse(ControllersText.text(controllers)) == controllers)
        }
        #expect(read > 50)
    }

    @Test func noSpoiltByteOfTheListIsBelieved() throws {
        let controllers = PairedControllers([
            PairedControllers.Controller(key: .desk, name: "Desk"), .init(key: .stranger, name: "Küche 100 %"),
        ])
        let whole = Array(ControllersText.text(controllers).utf8)
        for index in whole.indices {
            for bit in 0..<8 {
                var bytes = whole
                bytes[index] ^= 1 << bit
                let found = ControllersText.parse(String(decoding: bytes, as: UTF8.self))
                #expect(found == nil, "bit \(bit) of byte \(index)")
            }
            #expect(ControllersText.parse(String(decoding: whole[..<index], as: UTF8.self)) == nil)
        }
    }
}
