import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

/// Changes of the setup code: the old code stays valid until the new one is in flash, and only the new one is valid
/// afterwards.
@Suite struct CodeTests {
    private let newCode = try! SetupCode(text: "QRST-UVWX-YZ23-4567")
    private let phone = ConnectionID(rawValue: 9)

    /// A plug with an open pairing window.
    private func bench() -> Bench {
        var bench = Bench()
        bench.greet(first)
        bench.handle(.openPairing)
        return bench
    }

    private func ask(_ bench: inout Bench, _ code: SetupCode) -> [PlugServer.Action] {
        bench.say { $0.newCode.code = .init(code.bytes) }
    }

    private func refusal(_ bench: inout Bench, _ connection: ConnectionID = first) -> Refusal.Code? {
        for case .refused(let wire) in bench.take(connection) where wire.request == "new_code" {
            return wire.code.model
        }
        return nil
    }

    private func isChanged(_ bench: inout Bench) -> Bool {
        bench.take().contains { if case .newCode = $0 { true } else { false } }
    }

    private func begin(_ bench: inout Bench, at seconds: Double = 0) {
        bench.handle(opening(phone, key: strangerKey), at: seconds)
        bench.say(on: phone, at: seconds) {
            $0.pairingRequest.version = 1
            $0.pairingRequest.controller = "Phone"
            $0.pairingRequest.nonce = .init([UInt8](repeating: 5, count: 32))
        }
    }

    /// Returns the reason of the refusal, or nil if the plug paired.
    private func prove(_ bench: inout Bench, _ code: SetupCode, at seconds: Double = 0) -> Goodbye.Reason? {
        let transcript = PairingTranscript(
            version: 1, plug: lamp.id, plugKey: plugKey, controllerKey: strangerKey,
            plugNonce: [UInt8](repeating: 9, count: 32), controllerNonce: [UInt8](repeating: 5, count: 32))
        bench.say(on: phone, at: seconds) {
            $0.pairingProof.proof = .init(transcript.proof(of: .controller, code: code))
        }
        defer { bench.handle(.closed(phone), at: seconds) }
        return bench.take(phone).compactMap(\.goodbyeReason).first
    }

    @Test("A new code is confirmed when it is in flash, and from then on it replaces the old code")
    func itIsAnsweredWhenFlashHasItAndTheOldOneIsDead() {
        var bench = bench()
        #expect(ask(&bench, newCode) == [.keepCode(newCode)])
        #expect(!isChanged(&bench) && bench.server.access.code == setupCode)
        bench.handle(.codeKept(nil))
        #expect(isChanged(&bench) && bench.server.access.code == newCode)
        begin(&bench)
        #expect(prove(&bench, setupCode) == .wrongCode)
        begin(&bench, at: 1)
        #expect(prove(&bench, newCode, at: 1) == nil)
        #expect(bench.server.access.controllers[strangerKey]?.role == .owner)
    }

    @Test("A pairing that started with the old code fails after the change")
    func aPairingThatIsUnderWayWithTheOldOneFails() {
        var bench = bench()
        begin(&bench)
        _ = ask(&bench, newCode)
        bench.handle(.codeKept(nil))
        #expect(prove(&bench, setupCode) == .wrongCode)
        #expect(bench.server.access.controllers[strangerKey] == nil)
    }

    @Test("A waiting proof is checked against the new code")
    func aProofThatWaitsIsHeldAgainstTheNewOne() {
        var bench = bench()
        begin(&bench)
        #expect(prove(&bench, newCode) == .wrongCode)
        // The gate checks no other proof for half a second.
        begin(&bench, at: 0.1)
        let transcript = PairingTranscript(
            version: 1, plug: lamp.id, plugKey: plugKey, controllerKey: strangerKey,
            plugNonce: [UInt8](repeating: 9, count: 32), controllerNonce: [UInt8](repeating: 5, count: 32))
        bench.say(on: phone, at: 0.1) {
            $0.pairingProof.proof = .init(transcript.proof(of: .controller, code: setupCode))
        }
        bench.say(at: 0.2) { [newCode] in $0.newCode.code = .init(newCode.bytes) }
        bench.handle(.codeKept(nil), at: 0.2)
        _ = bench.run(until: 2)
        #expect(bench.server.access.controllers[strangerKey] == nil)
    }

    @Test("The old code stays valid if flash fails")
    func whereFlashFailsTheOldOneStays() {
        var bench = bench()
        _ = ask(&bench, newCode)
        bench.handle(.codeKept(Refusal(.storageFailed, "for a test")))
        #expect(refusal(&bench) == .storageFailed && bench.server.access.code == setupCode)
        #expect(ask(&bench, newCode) == [.keepCode(newCode)], "the change can be retried")
    }

    @Test("A second change is refused while the first is being written")
    func oneIsChangedAtATime() {
        var bench = bench()
        _ = ask(&bench, newCode)
        #expect(ask(&bench, setupCode).isEmpty)
        #expect(refusal(&bench) == .busy)
        #expect(bench.handle(.changeCode(setupCode)).isEmpty && bench.server.codeInWriting == newCode)
        bench.handle(.codeKept(nil))
        #expect(bench.server.access.code == newCode && bench.server.codeInWriting == nil)
    }

    @Test("The change completes even if the controller that requested it has disconnected")
    func whoAskedMayBeGone() {
        var bench = bench()
        _ = ask(&bench, newCode)
        bench.handle(.closed(first))
        bench.handle(.codeKept(nil))
        #expect(bench.server.access.code == newCode)
    }

    @Test("Only an owner can change the code")
    func onlyAnOwnerChangesIt() {
        let guests = PairedControllers([
            PairedControllers.Controller(key: deskKey, name: "Desk"),
            PairedControllers.Controller(key: otherKey, name: "Tablet", role: .user),
        ])
        var bench = Bench(access: PlugServer.Access(key: plugKey, code: setupCode, controllers: guests))
        bench.greet(second, key: otherKey)
        let asked = bench.say(on: second) { [newCode] in $0.newCode.code = .init(newCode.bytes) }
        #expect(asked.isEmpty && refusal(&bench, second) == .notAllowed)
    }

    @Test("A code of a wrong length ends the session")
    func aCodeOfAnotherLengthEndsTheSession() {
        var bench = bench()
        #expect(
            bench.say { $0.newCode.code = .init([1, 2]) }.contains {
                if case .shell(.close(first, _)) = $0 { true } else { false }
            })
        #expect(bench.server.access.code == setupCode)
    }

    @Test("A plug that lost its code can get a new one")
    func aPlugThatLostItsCodeGetsAnother() {
        var bench = Bench(
            access: PlugServer.Access(key: plugKey, code: nil, controllers: access().controllers))
        bench.greet(first)
        _ = ask(&bench, newCode)
        bench.handle(.codeKept(nil))
        bench.handle(.openPairing)
        begin(&bench)
        #expect(prove(&bench, newCode) == nil)
    }

    @Test("The audit log names who changed the code")
    func theAuditLogSaysWhoChangedIt() {
        var bench = bench()
        _ = ask(&bench, newCode)
        bench.handle(.codeKept(nil))
        #expect(bench.server.notes.map(\.kind) == [.codeChanged])
        bench.handle(.changeCode(setupCode))
        bench.handle(.codeKept(nil))
        #expect(bench.server.notes == [AuditNote(.codeChanged, by: .panel)])
    }
}
