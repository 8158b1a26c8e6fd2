import MatterCryptography
public import MatterSessions
public import MatterWire
import ProtocolCore

/// The Matter data of the label, as a line in flash: passcode, discriminator, vendor, product, and the verifier of the
/// passcode (iterations, salt, w0 and L), so that a start does not compute it again.
public struct MatterLabel: Hashable, Sendable, CustomStringConvertible {
    /// PBKDF2's iterations for new labels. They slow down a search by a thief of the verifier, and each commissioner
    /// repeats them.
    private static let iterations: UInt32 = 10_000
    private static let saltLength = 32
    private static let discriminators: Range<UInt16> = 0..<4096

    /// The vendor id in the QR code.
    public let vendor: UInt16
    /// The product id in the QR code.
    public let product: UInt16
    /// The discriminator, 12 bits, by which a commissioner finds the plug.
    public let discriminator: UInt16
    /// The verifier of the passcode.
    public let verifier: SpakeVerifier
    private let passcode: UInt32

    /// Creates a label with a random passcode and discriminator.
    ///
    /// - Throws: ``MatterDoorFault`` if libcrypto is not available.
    public init(vendor: UInt16, product: UInt16) throws(MatterDoorFault) {
        var random = SystemRandomNumberGenerator()
        let passcode = Self.newPasscode(using: &random)
        do throws(MatterError) {
            verifier = try SpakeVerifier(
                passcode: passcode, salt: random.bytes(Self.saltLength), iterations: Self.iterations,
                OpenSSLCryptography())
        } catch {
            throw MatterDoorFault(description: "\(error)")
        }
        discriminator = UInt16.random(in: Self.discriminators, using: &random)
        (self.passcode, self.vendor, self.product) = (passcode, vendor, product)
    }

    private static func newPasscode(using random: inout SystemRandomNumberGenerator) -> UInt32 {
        while true {
            let passcode = UInt32.random(in: 1..<99_999_999, using: &random)
            if MatterSetupPayload.isValid(passcode: passcode) { return passcode }
        }
    }

    /// Parses a line. Returns nil if it is not valid.
    public init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 7, let passcode = UInt32(words[0]), MatterSetupPayload.isValid(passcode: passcode),
            let discriminator = UInt16(words[1]), Self.discriminators.contains(discriminator),
            let vendor = UInt16(words[2]), let product = UInt16(words[3]), let iterations = UInt32(words[4]),
            let salt = HexadecimalText.bytes(of: words[5].utf8), let encoded = HexadecimalText.bytes(of: words[6].utf8),
            let verifier = try? SpakeVerifier(encoded: encoded, salt: salt, iterations: iterations)
        else { return nil }
        self.init(passcode, discriminator, vendor, product, verifier)
    }

    private init(
        _ passcode: UInt32, _ discriminator: UInt16, _ vendor: UInt16, _ product: UInt16, _ verifier: SpakeVerifier
    ) {
        (self.passcode, self.discriminator, self.verifier) = (passcode, discriminator, verifier)
        (self.vendor, self.product) = (vendor, product)
    }

    /// The line for flash.
    public var line: String {
        [
            "\(passcode)", "\(discriminator)", "\(vendor)", "\(product)", "\(verifier.iterations)",
            HexadecimalText.text(of: verifier.salt), HexadecimalText.text(of: verifier.encoded),
        ].joined(separator: " ")
    }

    /// Returns the label with other ids, for new credentials. The manual code stays the same.
    public func with(vendor: UInt16, product: UInt16) -> MatterLabel {
        MatterLabel(passcode, discriminator, vendor, product, verifier)
    }

    /// The texts of the QR code and of the manual code.
    public var payload: MatterSetupPayload {
        MatterSetupPayload(passcode: passcode, discriminator: discriminator, vendor: vendor, product: product)
    }

    /// The label without its passcode.
    public var description: String { "Matter label with discriminator \(discriminator)" }
}

/// The reason why Matter cannot start.
public struct MatterDoorFault: Error, Hashable, CustomStringConvertible, Sendable {
    /// The reason as text, with a hint if there is one.
    public let description: String
}

extension RandomNumberGenerator {
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
