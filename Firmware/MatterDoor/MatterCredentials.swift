import Crypto
public import LinuxSystem
public import Matter
import MatterSessions

/// The attestation credentials of the plug, as files in a folder: `dac.der`, `dac-key.der`, `pai.der` and
/// `declaration.der` (Matter 6.2). With them, a commissioner checks that the plug is a certified product, so plugd
/// cannot create them.
public struct MatterCredentials: Hashable, Sendable {
    /// The limit of a file in bytes; certificates have at most 600 bytes (Matter 6.1.3).
    private static let fileLimit = 4096
    private static let hint = "\nhint: Scripts/matter-credentials creates credentials for tests"

    /// The credentials, as a Matter device sends them.
    public let attestation: AttestationCredentials
    /// The vendor id in the certificate.
    public let vendor: UInt16
    /// The product id in the certificate.
    public let product: UInt16

    /// Reads the files and checks that they belong together. The key must be readable only by the user of this process.
    ///
    /// - Throws: ``MatterDoorFault`` with the file, the reason and a hint.
    public init(folder: String, files: FileStore = FileStore()) throws(MatterDoorFault) {
        let dac = try Self.file("dac.der", in: folder, files)
        let encodedKey = try Self.file("dac-key.der", in: folder, files, isSecret: true)
        let pai = try Self.file("pai.der", in: folder, files)
        let declaration = try Self.file("declaration.der", in: folder, files)
        guard let key = try? P256.Signing.PrivateKey(derRepresentation: encodedKey) else {
            throw MatterDoorFault(description: "\(folder)/dac-key.der is not a P-256 key in DER" + Self.hint)
        }
        attestation = AttestationCredentials(
            dac: dac, pai: pai, declaration: declaration, key: Array(key.rawRepresentation))
        do {
            let certificate = try AttestationCertificate(decoding: dac)
            guard let vendor = certificate.vendor, let product = certificate.product else {
                throw MatterDoorFault(description: "the subject of dac.der has no vendor and product")
            }
            try AttestationCheck.verify(
                dac: dac, pai: pai, declaration: declaration, key: attestation.key, vendor: vendor, product: product)
            (self.vendor, self.product) = (vendor, product)
        } catch {
            throw MatterDoorFault(description: "the attestation credentials in \(folder): \(error)" + Self.hint)
        }
    }

    private static func file(
        _ name: String, in folder: String, _ files: FileStore, isSecret: Bool = false
    ) throws(MatterDoorFault) -> [UInt8] {
        let path = "\(folder)/\(name)"
        let bytes: [UInt8]?
        do throws(FileError) {
            bytes =
                try isSecret
                ? files.readSecretIfPresent(path, limit: fileLimit) : files.readIfPresent(path, limit: fileLimit)
        } catch {
            throw MatterDoorFault(description: "\(error)" + (error.hint.map { "\nhint: \($0)" } ?? ""))
        }
        guard let bytes else {
            throw MatterDoorFault(
                description: "the attestation credentials are incomplete: \(path) is missing" + hint)
        }
        return bytes
    }
}
