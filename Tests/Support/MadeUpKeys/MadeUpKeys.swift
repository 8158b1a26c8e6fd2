public import PlugModel
public import PlugProtocol

/// Keys that no certificate has: a machine takes the word of its shell for them.
extension PublicKey {
    public static let plug = PublicKey(madeUp: 1)
    public static let desk = PublicKey(madeUp: 2)
    public static let stranger = PublicKey(madeUp: 3)

    public init(madeUp number: UInt64) {
        self.init(bytes: (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })!
    }
}

extension AuthorityID {
    public static let desk = AuthorityID(.desk)
}

extension SetupCode {
    public static let label = try! SetupCode(text: "ABCD-EFGH-IJKL-MNOP")
}

extension PlugServer.Access {
    /// A plug that is paired with the owners of these keys, and with nobody else.
    public static func knowing(_ keys: [PublicKey] = [.desk]) -> Self {
        PlugServer.Access(
            key: .plug, code: .label,
            controllers: PairedControllers(keys.map { PairedControllers.Controller(key: $0, name: "Desk") }))
    }
}

extension PlugServer.Opening {
    /// A connection of the owner of this key, with a nonce that tells connections apart.
    public init(_ connection: ConnectionID, of key: PublicKey = .desk, peer: String = "test") {
        let number = connection.rawValue
        self.init(
            connection, peer: peer, key: key,
            nonce: (0..<PairingTranscript.nonceLength).map { UInt8(truncatingIfNeeded: number >> ($0 % 8 * 8)) })
    }
}
