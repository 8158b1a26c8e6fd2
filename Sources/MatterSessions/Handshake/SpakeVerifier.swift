public import MatterWire

/// The form in which a node stores a passcode (Matter 3.10, 5.1.7). An attacker who has this form can find the passcode
/// only by trying all passcodes.
public struct SpakeVerifier: Hashable, Sendable, CustomStringConvertible {
    /// The limits of the salt's length in bytes (Matter 3.9).
    public static let saltLengths = 16...32
    /// The limits of PBKDF2's iterations (Matter 3.9). The upper one protects the processor of the peer.
    public static let iterationLimits: ClosedRange<UInt32> = 1000...100_000
    /// The length of ``encoded`` in bytes.
    public static let encodedLength = CryptographyLengths.scalar + CryptographyLengths.point

    /// The secret w0, 32 bytes.
    public let w0: [UInt8]
    /// The point L = w1 * P, 65 bytes.
    public let l: [UInt8]
    /// The salt of PBKDF2.
    public let salt: [UInt8]
    /// The iterations of PBKDF2.
    public let iterations: UInt32

    /// Computes the verifier of a passcode.
    ///
    /// - Throws: ``MatterError`` if the salt or the iterations are outside their limits.
    public init(
        passcode: UInt32, salt: [UInt8], iterations: UInt32, _ cryptography: any MatterCryptography
    ) throws(MatterError) {
        try Self.check(salt: salt, iterations: iterations)
        let secrets = try Spake2Plus.secrets(passcode: passcode, salt: salt, iterations: iterations, cryptography)
        w0 = secrets.w0
        l = try cryptography.multiply(nil, by: secrets.w1)
        self.salt = salt
        self.iterations = iterations
    }

    /// Creates a verifier from its stored values.
    ///
    /// - Throws: ``MatterError`` if w0 is not a scalar of P-256, L is not a point of P-256, or the salt or the
    ///   iterations are outside their limits.
    public init(w0: [UInt8], l: [UInt8], salt: [UInt8], iterations: UInt32) throws(MatterError) {
        try Self.check(salt: salt, iterations: iterations)
        guard HandshakeCryptography.isScalar(w0) else { throw .invalid("PASE verifier: w0 is not a scalar of P-256") }
        guard HandshakeCryptography.isPoint(l) else { throw .invalid("PASE verifier: L is not a point of P-256") }
        (self.w0, self.l, self.salt, self.iterations) = (w0, l, salt, iterations)
    }

    /// Creates a verifier from w0 and L as one string of 97 bytes, the form of OpenCommissioningWindow
    /// (Matter 11.19.8.1).
    public init(encoded: [UInt8], salt: [UInt8], iterations: UInt32) throws(MatterError) {
        guard encoded.count == Self.encodedLength else {
            throw .invalid("PASE verifier: \(encoded.count) bytes instead of \(Self.encodedLength)")
        }
        try self.init(
            w0: Array(encoded.prefix(CryptographyLengths.scalar)), l: Array(encoded.suffix(CryptographyLengths.point)),
            salt: salt, iterations: iterations)
    }

    /// w0 and L, 97 bytes.
    public var encoded: [UInt8] { w0 + l }

    /// The verifier without its secrets.
    public var description: String { "PASE verifier with \(iterations) iterations" }

    static func check(salt: [UInt8], iterations: UInt32) throws(MatterError) {
        guard saltLengths.contains(salt.count) else {
            throw .invalid("PASE verifier: a salt has \(saltLengths) bytes, not \(salt.count)")
        }
        guard iterationLimits.contains(iterations) else {
            throw .invalid("PASE verifier: the iterations are \(iterationLimits), not \(iterations)")
        }
    }
}
