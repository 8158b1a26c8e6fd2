import PlugModel
import TestSupport
import Testing

@testable import Daemon

/// Regression: an attacker who can compute a request id must not be able to use it before the rule does.
@Suite struct RequestVeilTests {
    private let cipher = RequestIDCipher(secret: Array(0..<32))

    private func id(_ bytes: [UInt8]) -> RequestID { RequestID(bytes: bytes)! }

    @Test("An encrypted id is different and is decrypted to the original") func eachIDComesBackAndIsAnotherOne() {
        var random = Fuzzing.random(24)
        var seen: Set<RequestID> = []
        for _ in FuzzRounds(2000) {
            let own = RequestID(drawnFrom: &random)
            let told = cipher.encrypt(own)
            #expect(cipher.decrypt(told) == own)
            #expect(cipher.encrypt(cipher.decrypt(own)) == own)
            #expect(told != own && seen.insert(told).inserted)
        }
    }

    @Test("Different secrets give different ids, and similar ids have dissimilar results")
    func withoutTheSecretNobodyWorksItOut() {
        let own = id([UInt8](repeating: 7, count: 16))
        #expect(RequestIDCipher(secret: Array(1...32)).encrypt(own) != cipher.encrypt(own))
        #expect(RequestIDCipher().encrypt(own) != RequestIDCipher().encrypt(own))
        // About half of the bits differ between the results for two adjacent ids.
        var next = own.bytes
        next[15] ^= 1
        let differing = zip(cipher.encrypt(own).bytes, cipher.encrypt(id(next)).bytes).reduce(0) {
            $0 + ($1.0 ^ $1.1).nonzeroBitCount
        }
        #expect((30...98).contains(differing))
    }

    @Test("After decryption, an event of a plug contains the rule's original request id")
    func aPlugsEventNamesTheRulesOwnRequest() {
        let own = id([UInt8](repeating: 9, count: 16))
        let boot = BootID(bytes: [UInt8](repeating: 1, count: 16))!
        func event(_ request: RequestID) -> [PlugEvent] {
            let cause = RelayCause.controller(name: "Desk", request: request)
            return [
                .relayChanged(on: true, cause: cause), .protectionReset(.overPower, cause: cause),
                .buttonPressed(.long),
            ]
            .map { PlugEvent(sequence: 1, boot: boot, time: .zero, kind: $0) }
        }
        #expect(event(cipher.encrypt(own)).map(cipher.decrypt) == event(own))
    }
}
