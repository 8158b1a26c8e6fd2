/// The accessory side of one pair-verify, M1 to M4 (HAP 5.7).
///
/// Pair-resume is not supported. It serves Bluetooth LE (HAP 7), on which pair-verify takes seconds. Over IP,
/// pair-verify takes two round trips and less than a millisecond of computation. The server therefore stores no secrets
/// of earlier sessions, and a removed controller cannot resume a session.
struct PairVerify: Sendable {
    private let controllerKey: [UInt8]
    private let accessoryKey: [UInt8]
    private let secret: [UInt8]
    private let encryptionKey: [UInt8]
    /// The message M2.
    let challenge: PairingMessage

    /// Handles M1. Returns nil if its key is missing or invalid.
    init?(_ message: PairingMessage, _ records: HomeKitRecords, _ random: inout SecretRandomness) {
        guard let controllerKey = message.items[PairingItem.publicKey],
            let agreed = PairingCryptography.agree(random.bytes(PairingCryptography.keyLength), with: controllerKey)
        else { return nil }
        (self.controllerKey, accessoryKey, secret) = (controllerKey, agreed.publicKey, agreed.secret)
        encryptionKey = PairingCryptography.derive(
            secret, salt: "Pair-Verify-Encrypt-Salt", info: "Pair-Verify-Encrypt-Info")
        let identifier = Array(records.deviceID.utf8)
        guard
            let signature = PairingCryptography.sign(
                accessoryKey + identifier + controllerKey, with: records.signingKey)
        else { return nil }
        let inner = TLV8([
            TLV8.Item(PairingItem.identifier, identifier), TLV8.Item(PairingItem.signature, signature),
        ])
        guard let data = PairingCryptography.seal(inner.encoded, key: encryptionKey, nonce: Array("PV-Msg02".utf8))
        else { return nil }
        challenge = PairingMessage(
            state: 2,
            [TLV8.Item(PairingItem.publicKey, accessoryKey), TLV8.Item(PairingItem.encryptedData, data)])
    }

    /// Handles M3. Returns the controller and the session's encryption. Returns nil if the message cannot be decrypted,
    /// or if it has no valid signature of a paired controller.
    func verify(_ message: PairingMessage, _ records: HomeKitRecords) -> (ControllerPairing, SessionCipher)? {
        guard let sealed = message.items[PairingItem.encryptedData],
            let opened = PairingCryptography.open(sealed, key: encryptionKey, nonce: Array("PV-Msg03".utf8)),
            let items = try? TLV8(decoding: opened), let identifier = items[PairingItem.identifier],
            let signature = items[PairingItem.signature], let pairing = records.pairing(of: identifier),
            PairingCryptography.isSigned(
                controllerKey + identifier + accessoryKey, by: pairing.publicKey, signature)
        else { return nil }
        return (pairing, SessionCipher(accessory: secret))
    }
}
