import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

@Suite struct PairingProofTests {
    let code = try! SetupCode(text: "ABCD-EFGH-IJKL-MNOP")

    func transcript(plugKey: UInt8 = 1) -> PairingTranscript {
        PairingTranscript(
            version: 1, plug: PlugID(rawValue: "0123456789ab")!, plugKey: PublicKey(bytes: [plugKey, 2])!,
            controllerKey: PublicKey(bytes: [3, 4, 5])!, plugNonce: [UInt8](repeating: 6, count: 32),
            controllerNonce: [UInt8](repeating: 7, count: 32))
    }

    @Test("Each item of the transcript is preceded by its length")
    func theTranscriptPutsEachItemBehindItsLength() {
        let expected: [UInt8] =
            [0, 0, 0, 16] + Array("smartplug-pair-1".utf8) + [0, 0, 0, 4, 0, 0, 0, 1] + [0, 0, 0, 12]
            + Array("0123456789ab".utf8) + [0, 0, 0, 2, 1, 2] + [0, 0, 0, 3, 3, 4, 5] + [0, 0, 0, 32]
            + [UInt8](repeating: 6, count: 32) + [0, 0, 0, 32] + [UInt8](repeating: 7, count: 32)
        #expect(transcript().bytes == expected)
    }

    /// The values were computed from the same transcript with Python's hashlib and hmac, by the steps of RFC 5869.
    @Test("The proofs equal those of an independent implementation")
    func theProofsAreThoseOfAnotherImplementation() {
        let controller = transcript().proof(of: .controller, code: code)
        let plug = transcript().proof(of: .plug, code: code)
        #expect(hexadecimal(controller) == "c47566ece3dd1fc8759383e02ea7b344ccd8d6b80ee769905716dcd64dbde203")
        #expect(hexadecimal(plug) == "cdd1fd35251fc7537e4600603e28d56f8b41417bafbcade941df27f7bd1cd4c6")
    }

    @Test("A proof is valid only for its side, code and keys")
    func aProofHoldsForItsSideItsCodeAndItsKeysAlone() throws {
        let proof = transcript().proof(of: .controller, code: code)
        #expect(transcript().isProof(proof, of: .controller, code: code))
        #expect(!transcript().isProof(proof, of: .plug, code: code))
        #expect(!transcript(plugKey: 9).isProof(proof, of: .controller, code: code))
        let other = try SetupCode(text: "ABCD-EFGH-IJKL-MNOQ")
        #expect(!transcript().isProof(proof, of: .controller, code: other))
        #expect(!transcript().isProof(Array(proof.dropLast()), of: .controller, code: code))
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
