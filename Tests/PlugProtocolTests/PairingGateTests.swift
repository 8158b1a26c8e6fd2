import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

@Suite struct PairingGateTests {
    @Test("The pairing window closes when its time ends, and holding the button extends it")
    func theWindowOpensAndCloses() {
        var gate = PairingGate()
        #expect(!gate.isOpen(at: .zero))
        gate.open(for: PairingGate.factoryWindow, now: .zero)
        #expect(gate.isOpen(at: at(599)))
        #expect(!gate.isOpen(at: at(600)))
        gate.buttonHeld(now: at(550))
        #expect(gate.closesAt == at(670))
        gate.buttonHeld(now: at(0))
        #expect(gate.closesAt == at(670))
    }

    @Test("Each wrong proof doubles the wait, up to 30 seconds")
    func eachWrongProofMakesTheNextWaitTwiceAsLongUpTo30Seconds() {
        var gate = PairingGate()
        var waits: [Double] = []
        for _ in 0..<9 {
            gate.failed(now: at(100))
            waits.append((gate.notBefore - at(100)).inSeconds)
        }
        #expect(waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
        #expect(gate.failures == 9)
    }

    @Test("Holding the button ends the wait after wrong proofs")
    func whoStandsBeforeThePlugNeedNotWait() {
        var gate = PairingGate()
        for _ in 0..<20 { gate.failed(now: at(100)) }
        gate.buttonHeld(now: at(101))
        #expect(gate.notBefore <= at(101))
        #expect(gate.failures == 0)
    }
}

@Suite struct PairedControllersTests {
    func controller(_ number: UInt8) -> PairedControllers.Controller {
        PairedControllers.Controller(key: PublicKey(bytes: [number])!, name: "\(number)")
    }

    @Test("A plug has room for sixteen controllers")
    func thereIsRoomForSixteen() {
        var controllers = PairedControllers()
        for number in 0..<16 {
            let added = controllers.add(controller(UInt8(number)))
            #expect(added)
        }
        let seventeenth = controllers.add(controller(16))
        #expect(!seventeenth)
        var renamed = controller(3)
        renamed.name = "Kitchen"
        let again = controllers.add(renamed)
        #expect(again)
        #expect(controllers.all.count == 16)
        #expect(controllers[renamed.key]?.name == "Kitchen")
        let removed = controllers.remove(fingerprint: renamed.key.fingerprint)
        #expect(removed == renamed)
        #expect(controllers[renamed.key] == nil)
    }
}
