import Crypto
import Foundation
import HummingbirdTLS
import LinuxSystem
import NIOSSL
import PlugTransport

/// The certificate and key of the TLS server.
struct ServerIdentity {
    /// The maximum size in bytes of a certificate or key file.
    private static let fileLimit = 1 << 16

    let configuration: TLSConfiguration
    /// The SHA-256 of the certificate, as browsers show it: pairs of hexadecimal digits with colons. Nil for a
    /// configured certificate.
    let fingerprint: String?

    init(_ settings: DashboardSettings, names: [String], files: FileStore = FileStore()) throws(DashboardFault) {
        if let given = settings.certificate {
            let chain = try Self.read(given.chain, files)
            let key = try Self.read(given.key, files)
            configuration = try Self.configuration(chain, key, hint: "use a matching certificate and key in PEM format")
            fingerprint = nil
        } else {
            let path = settings.directory + "/tls.pem"
            let pem = try Self.kept(path, names, files)
            configuration = try Self.configuration(
                pem, pem, hint: "move \(path) away and restart to create a new certificate")
            fingerprint = Self.fingerprint(configuration)
        }
    }

    /// Reads or creates the key and the certificate. Both are in one file, so that they are always stored together.
    private static func kept(_ path: String, _ names: [String], _ files: FileStore) throws(DashboardFault) -> [UInt8] {
        do throws(FileError) {
            if let known = try files.readSecretIfPresent(path, limit: fileLimit) { return known }
            try files.makeDirectories(String(path.dropLast("/tls.pem".count)))
            let made = WebCertificate(names: names.filter { Authority($0)?.isAddress == false })
            let lines = Data(made.certificate).base64EncodedString(
                options: [.lineLength64Characters, .endLineWithLineFeed])
            let pem = made.privateKeyPEM + "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
            guard try files.createSecret(path, with: Array(pem.utf8)) else {
                return try files.readSecretIfPresent(path, limit: fileLimit) ?? []
            }
            return Array(pem.utf8)
        } catch {
            throw DashboardFault(error)
        }
    }

    private static func read(_ path: String, _ files: FileStore) throws(DashboardFault) -> [UInt8] {
        do throws(FileError) { return try files.read(path, limit: fileLimit) } catch { throw DashboardFault(error) }
    }

    private static func configuration(
        _ chain: [UInt8], _ key: [UInt8], hint: String
    ) throws(DashboardFault) -> TLSConfiguration {
        do {
            let certificates = try NIOSSLCertificate.fromPEMBytes(chain)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            // The context checks that the certificate and the key belong together.
            _ = try NIOSSLContext(configuration: configuration)
            return configuration
        } catch {
            throw DashboardFault("cannot use the certificate and its key: \(error)\nhint: \(hint)")
        }
    }

    private static func fingerprint(_ configuration: TLSConfiguration) -> String? {
        guard case .certificate(let certificate)? = configuration.certificateChain.first,
            let bytes = try? certificate.toDERBytes()
        else { return nil }
        return SHA256.hash(data: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
            .joined(separator: ":")
    }
}
