public import PlugModel
public import PlugProtocol

/// Keys without certificates. A machine does not verify keys; its shell does.
extension PublicKey {
    /// The key of the plug.
    public static let plug = PublicKey(madeUp: 1)
    /// The key of the paired controller "Desk".
    public static let desk = PublicKey(madeUp: 2)
    /// The key of an unpaired controller.
    public static let stranger = PublicKey(madeUp: 3)

    /// Creates a key of 8 bytes from a number.
    public init(madeUp number: UInt64) {
        self.init(bytes: (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })!
    }
}

extension AuthorityID {
    /// The authority of the controller with the key ``PublicKey/desk``.
    public static let desk = AuthorityID(.desk)
}

extension SetupCode {
    /// The setup code on the plug's label.
    public static let label = try! SetupCode(text: "ABCD-EFGH-IJKL-MNOP")
}

extension PlugServer.Access {
    /// Returns the access rights of a plug that is paired only with the owners of these keys.
    public static func knowing(_ keys: [PublicKey] = [.desk]) -> Self {
        PlugServer.Access(
            key: .plug, code: .label,
            controllers: PairedControllers(keys.map { PairedControllers.Controller(key: $0, name: "Desk") }))
    }
}

extension PlugServer.Opening {
    /// Creates an opened connection of the owner of this key, with a nonce that is unique per connection.
    public init(_ connection: ConnectionID, of key: PublicKey = .desk, peer: String = "test") {
        let number = connection.rawValue
        self.init(
            connection, peer: peer, key: key,
            nonce: (0..<PairingTranscript.nonceLength).map { UInt8(truncatingIfNeeded: number >> ($0 % 8 * 8)) })
    }
}
