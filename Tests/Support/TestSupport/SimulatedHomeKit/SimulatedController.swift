import Crypto
import Foundation
public import HomeKit
import LargeNumbers

/// A HomeKit controller that pairs, verifies, sends requests and receives events. Its code is independent of the
/// accessory's, except for TLV8, the arithmetic and the hashes of SRP.
public struct SimulatedController: Sendable {
    /// The name, which is also its pairing identifier.
    public let name: String
    /// The long-term private key (Ed25519).
    public let signingKey: [UInt8]
    /// The accessory's long-term public key, after pairing.
    public private(set) var accessoryKey: [UInt8]?
    /// The accessory's pairing identifier, after pairing.
    public private(set) var accessoryID: [UInt8]?

    /// Creates a controller whose key is derived from its name.
    public init(_ name: String) {
        self.name = name
        signingKey = Array(SHA256.hash(data: Array(name.utf8)))
    }

    /// The long-term public key.
    public var publicKey: [UInt8] {
        // swift-format-ignore: NeverUseForceTry
        Array(try! Curve25519.Signing.PrivateKey(rawRepresentation: signingKey).publicKey.rawRepresentation)
    }

    /// Stores the accessory's key and identifier.
    public mutating func learn(_ key: [UInt8], _ id: [UInt8]) { (accessoryKey, accessoryID) = (key, id) }

    func sign(_ message: [UInt8]) throws -> [UInt8] {
        Array(try Curve25519.Signing.PrivateKey(rawRepresentation: signingKey).signature(for: message))
    }
}

/// An error in an answer, or an unexpected answer.
public enum ControllerFault: Error, Equatable {
    /// An error of pairing, with the delay in seconds before the next attempt, if the accessory stated one.
    case refused(PairingError, retryDelay: UInt8?)
    /// A malformed or unexpected answer, or a wrong proof or signature.
    case invalid(String)
    /// No answer arrived.
    case closed
    /// An HTTP status other than 200.
    case status(Int)
}

/// One attempt of pair-setup: creates the bodies of the requests to `/pair-setup`. M1 to M6 are its messages in HAP.
public struct SetupAttempt: Sendable {
    private let controller: SimulatedController
    private let code: String
    private let secret: [UInt8]
    private let arithmetic: GMPArithmetic
    private var publicKey: [UInt8] = []
    private var sessionKey: [UInt8] = []
    private var proof: [UInt8] = []
    /// The accessory's key and identifier, after M6.
    public private(set) var accessory: (key: [UInt8], id: [UInt8])?

    /// Creates an attempt with this setup code; `secret` selects the ephemeral key.
    public init(_ controller: SimulatedController, code: String, secret: UInt8 = 7) throws {
        (self.controller, self.code) = (controller, code)
        self.secret = Array(SHA256.hash(data: Array(controller.name.utf8) + [secret]))
        arithmetic = try GMPArithmetic()
    }

    /// Returns M1.
    public static func first(flags: UInt8? = nil, method: UInt8 = 0) -> [UInt8] {
        var items = TLV8([TLV8.Item(6, [1]), TLV8.Item(0, [method])])
        if let flags { items.append(0x13, [flags]) }
        return items.encoded
    }

    /// Returns M3 for the accessory's M2.
    public mutating func second(_ answer: TLV8) throws -> [UInt8] {
        let modulus = SecureRemotePassword.modulus
        guard let salt = answer[2], let key = answer[3] else { throw ControllerFault.invalid("M2") }
        publicKey = try arithmetic.power([5], secret, modulo: modulus, isSecret: true)
        let user = "Pair-Setup"
        let hidden = SecureRemotePassword.privateKey(salt: salt, user: user, password: code)
        // SRP's shared secret is S = (B - k g^x)^(a + u x), computed as a product of two powers. B - k g^x is computed
        // as B + (N - k g^x).
        let power = try arithmetic.power([5], hidden, modulo: modulus, isSecret: true)
        let product = try arithmetic.multiply(SecureRemotePassword.multiplier, power, modulo: modulus)
        let negative = try arithmetic.multiply(product, Self.minusOne, modulo: modulus)
        let base = try arithmetic.add(key, negative, modulo: modulus)
        let scrambling = SecureRemotePassword.scrambling(publicKey, key)
        let first = try arithmetic.power(base, secret, modulo: modulus, isSecret: true)
        let second = try arithmetic.power(
            try arithmetic.power(base, scrambling, modulo: modulus, isSecret: true), hidden, modulo: modulus,
            isSecret: true)
        sessionKey = SecureRemotePassword.sessionKey(try arithmetic.multiply(first, second, modulo: modulus))
        proof = SecureRemotePassword.controllerProof(
            user: user, salt: salt, controllerKey: publicKey, accessoryKey: key, sessionKey: sessionKey)
        return TLV8([TLV8.Item(6, [3]), TLV8.Item(3, publicKey), TLV8.Item(4, proof)]).encoded
    }

    private static let minusOne: [UInt8] = {
        var number = SecureRemotePassword.modulus
        number[number.count - 1] -= 1
        return number
    }()

    /// Returns M5 for the accessory's M4. Throws if the accessory's proof is wrong.
    public func third(_ answer: TLV8) throws -> [UInt8] {
        let expected = SecureRemotePassword.accessoryProof(
            controllerKey: publicKey, controllerProof: proof, sessionKey: sessionKey)
        guard answer[4] == expected else { throw ControllerFault.invalid("the accessory does not know the code") }
        let name = Array(controller.name.utf8)
        let signature = try controller.sign(key("Controller-Sign") + name + controller.publicKey)
        let inner = TLV8([TLV8.Item(1, name), TLV8.Item(3, controller.publicKey), TLV8.Item(10, signature)])
        let sealed = try Sealing.seal(inner.encoded, key("Encrypt"), "PS-Msg05")
        return TLV8([TLV8.Item(6, [5]), TLV8.Item(5, sealed)]).encoded
    }

    /// Handles the accessory's M6. Throws if its signature is invalid.
    public mutating func finish(_ answer: TLV8) throws {
        guard let sealed = answer[5] else { throw ControllerFault.invalid("M6") }
        let inner = try TLV8(decoding: Sealing.open(sealed, key("Encrypt"), "PS-Msg06"))
        guard let id = inner[1], let key = inner[3], let signature = inner[10],
            try Curve25519.Signing.PublicKey(rawRepresentation: key)
                .isValidSignature(signature, for: self.key("Accessory-Sign") + id + key)
        else { throw ControllerFault.invalid("the accessory's signature") }
        accessory = (key, id)
    }

    private func key(_ name: String) -> [UInt8] {
        Sealing.derive(sessionKey, "Pair-Setup-\(name)-Salt", "Pair-Setup-\(name)-Info")
    }
}

/// One attempt of pair-verify: creates the bodies of the requests to `/pair-verify`. M1 to M3 are messages of HAP.
public struct VerifyAttempt: Sendable {
    private let controller: SimulatedController
    private let secret: [UInt8]
    /// The shared secret, after M2.
    public private(set) var shared: [UInt8] = []

    /// Creates an attempt; `secret` selects the ephemeral key.
    public init(_ controller: SimulatedController, secret: UInt8 = 9) {
        self.controller = controller
        self.secret = Array(SHA256.hash(data: Array("verify \(controller.name)".utf8) + [secret]))
    }

    private var publicKey: [UInt8] {
        get throws {
            Array(try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: secret).publicKey.rawRepresentation)
        }
    }

    /// Returns M1.
    public func first() throws -> [UInt8] { TLV8([TLV8.Item(6, [1]), TLV8.Item(3, try publicKey)]).encoded }

    /// Returns M3 for the accessory's M2. Throws if the accessory is not the paired one.
    public mutating func second(_ answer: TLV8) throws -> [UInt8] {
        guard let other = answer[3], let sealed = answer[5] else { throw ControllerFault.invalid("M2") }
        let own = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: secret)
        shared = try own.sharedSecretFromKeyAgreement(with: .init(rawRepresentation: other))
            .withUnsafeBytes { Array($0) }
        let key = Sealing.derive(shared, "Pair-Verify-Encrypt-Salt", "Pair-Verify-Encrypt-Info")
        let inner = try TLV8(decoding: Sealing.open(sealed, key, "PV-Msg02"))
        guard let id = inner[1], let signature = inner[10], let known = controller.accessoryKey,
            id == controller.accessoryID,
            try Curve25519.Signing.PublicKey(rawRepresentation: known)
                .isValidSignature(signature, for: other + id + publicKey)
        else { throw ControllerFault.invalid("this is another accessory") }
        let name = Array(controller.name.utf8)
        let answer = TLV8([
            TLV8.Item(1, name), TLV8.Item(10, try controller.sign(publicKey + name + other)),
        ])
        return TLV8([TLV8.Item(6, [3]), TLV8.Item(5, try Sealing.seal(answer.encoded, key, "PV-Msg03"))]).encoded
    }
}

/// ChaCha20-Poly1305 and HKDF with the parameters of HAP.
enum Sealing {
    static func derive(_ secret: [UInt8], _ salt: String, _ info: String) -> [UInt8] {
        HKDF<SHA512>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), salt: Array(salt.utf8), info: Array(info.utf8),
            outputByteCount: 32
        ).withUnsafeBytes { Array($0) }
    }

    static func seal(_ bytes: [UInt8], _ key: [UInt8], _ nonce: String) throws -> [UInt8] {
        try seal(bytes, key, Array(nonce.utf8), [])
    }

    static func seal(_ bytes: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) throws -> [UInt8] {
        let box = try ChaChaPoly.seal(
            bytes, using: SymmetricKey(data: key), nonce: ChaChaPoly.Nonce(data: [0, 0, 0, 0] + nonce),
            authenticating: data)
        return Array(box.ciphertext) + Array(box.tag)
    }

    static func open(_ bytes: [UInt8], _ key: [UInt8], _ nonce: String) throws -> [UInt8] {
        try open(bytes, key, Array(nonce.utf8), [])
    }

    static func open(_ bytes: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) throws -> [UInt8] {
        guard bytes.count >= 16 else { throw ControllerFault.invalid("no tag") }
        let box = try ChaChaPoly.SealedBox(
            nonce: ChaChaPoly.Nonce(data: [0, 0, 0, 0] + nonce), ciphertext: bytes.dropLast(16), tag: bytes.suffix(16))
        return Array(try ChaChaPoly.open(box, using: SymmetricKey(data: key), authenticating: data))
    }
}
