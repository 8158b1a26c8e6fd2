internal import ProtocolCore

/// Limits the tries of the setup code. The count covers all sessions, so that more connections do not allow more tries.
struct PairSetupGate: Sendable {
    /// The number of wrong codes after which pairing is blocked until the firmware restarts (HAP 5.6.2).
    static let tryLimit = 100
    /// The delay after the first wrong code. Each further wrong code doubles the delay, up to ``longestDelay``.
    static let firstDelay = Duration.seconds(1)
    static let longestDelay = Duration.seconds(60)

    private(set) var failures = 0
    private var notBefore = Instant.zero

    var isExhausted: Bool { failures >= Self.tryLimit }

    /// Returns the whole seconds until the next try is allowed, or nil if it may begin.
    func delay(at now: Instant) -> UInt8? {
        guard now < notBefore else { return nil }
        return UInt8(clamping: Int((notBefore - now).inSeconds.rounded(.up)))
    }

    mutating func failed(now: Instant) {
        failures += 1
        let doublings = min(failures - 1, 6)
        notBefore = now + min(Self.firstDelay * (1 << doublings), Self.longestDelay)
    }
}

/// The accessory side of one pair-setup, M1 to M6 (HAP 5.6).
struct PairSetup: Sendable {
    private enum Phase {
        /// M2 is sent.
        case asked(SecureRemotePassword.Accessory)
        /// M4 is sent: both sides have proven the code.
        case proven(sessionKey: [UInt8])
    }

    enum Outcome {
        case answer(PairingMessage)
        /// The setup ended with an error.
        case refused(PairingMessage)
        /// The setup ended because the code is wrong.
        case wrongCode(PairingMessage)
        /// The controller to store, and the answer to send afterwards.
        case admit(ControllerPairing, PairingMessage)
    }

    /// The flag of the temporary, unstored pairing of HAP 5.6.1, which other devices use to stream sound.
    static let transientFlag: UInt32 = 1 << 4

    private var phase: Phase

    /// Draws the accessory's key and prepares M2, the answer to M1.
    init(
        _ verifier: SetupVerifier, _ random: inout SecretRandomness, _ arithmetic: any ModularArithmetic
    ) throws(HomeKitError) {
        var accessory: SecureRemotePassword.Accessory
        // Controllers disagree on hashing a key's leading zeros. The loop therefore draws keys until the first byte is
        // nonzero; on average it rejects one key in 256.
        repeat {
            accessory = try SecureRemotePassword.Accessory(
                verifier, secret: random.bytes(PairingCryptography.keyLength), arithmetic)
        } while accessory.publicKey.first == 0
        phase = .asked(accessory)
    }

    /// The message M2; nil after it was answered.
    var challenge: PairingMessage? {
        guard case .asked(let accessory) = phase else { return nil }
        return PairingMessage(
            state: 2,
            [
                TLV8.Item(PairingItem.publicKey, accessory.publicKey), TLV8.Item(PairingItem.salt, accessory.salt),
            ])
    }

    /// Handles M3 or M5.
    mutating func handle(
        _ message: PairingMessage, _ records: HomeKitRecords, _ arithmetic: any ModularArithmetic
    ) throws(HomeKitError) -> Outcome {
        switch (phase, message.state) {
        case (.asked(let accessory), 3):
            guard let key = message.items[PairingItem.publicKey], let proof = message.items[PairingItem.proof] else {
                return .refused(PairingMessage(state: 4, error: .unknown))
            }
            guard let proven = try accessory.verify(key, proof: proof, arithmetic) else {
                return .wrongCode(PairingMessage(state: 4, error: .authentication))
            }
            phase = .proven(sessionKey: proven.sessionKey)
            return .answer(PairingMessage(state: 4, [TLV8.Item(PairingItem.proof, proven.proof)]))
        case (.proven(let sessionKey), 5): return exchange(message, sessionKey, records)
        case (.asked, _): return .refused(PairingMessage(state: 4, error: .unknown))
        case (.proven, _): return .refused(PairingMessage(state: 6, error: .unknown))
        }
    }

    /// Handles M5 and creates M6: both sides exchange their long-term keys.
    private func exchange(_ message: PairingMessage, _ sessionKey: [UInt8], _ records: HomeKitRecords) -> Outcome {
        let refused = Outcome.refused(PairingMessage(state: 6, error: .authentication))
        func derived(_ name: String) -> [UInt8] {
            PairingCryptography.derive(sessionKey, salt: "Pair-Setup-\(name)-Salt", info: "Pair-Setup-\(name)-Info")
        }
        let key = derived("Encrypt")
        guard let sealed = message.items[PairingItem.encryptedData],
            let opened = PairingCryptography.open(sealed, key: key, nonce: Array("PS-Msg05".utf8)),
            let items = try? TLV8(decoding: opened),
            let pairing = ControllerPairing(
                identifier: items[PairingItem.identifier], publicKey: items[PairingItem.publicKey], isAdmin: true),
            let signature = items[PairingItem.signature],
            PairingCryptography.isSigned(
                derived("Controller-Sign") + pairing.identifier + pairing.publicKey, by: pairing.publicKey, signature)
        else { return refused }
        let identifier = Array(records.deviceID.utf8)
        guard let publicKey = PairingCryptography.verifyingKey(of: records.signingKey),
            let own = PairingCryptography.sign(
                derived("Accessory-Sign") + identifier + publicKey, with: records.signingKey)
        else { return refused }
        let answer = TLV8([
            TLV8.Item(PairingItem.identifier, identifier), TLV8.Item(PairingItem.publicKey, publicKey),
            TLV8.Item(PairingItem.signature, own),
        ])
        guard let data = PairingCryptography.seal(answer.encoded, key: key, nonce: Array("PS-Msg06".utf8)) else {
            return refused
        }
        return .admit(pairing, PairingMessage(state: 6, [TLV8.Item(PairingItem.encryptedData, data)]))
    }
}
