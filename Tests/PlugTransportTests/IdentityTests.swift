import Glibc
import LinuxSystem
import NIOSSL
import TestSupport
import Testing

@testable import PlugTransport

@Suite struct IdentityTests {
    @Test("An identity is read back from its PEM text") func anIdentityComesBackFromItsText() throws {
        let identity = TransportIdentity()
        let again = try TransportIdentity(pem: identity.pem)
        #expect(again.publicKey == identity.publicKey)
        #expect(again.pem == identity.pem)
        #expect(identity.publicKey != TransportIdentity().publicKey)
        #expect(identity.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(identity.pem.hasSuffix("\n-----END PRIVATE KEY-----\n"))
    }

    @Test("The certificate contains the identity's key") func itsCertificateHoldsItsKey() throws {
        for _ in 0..<100 {
            let identity = TransportIdentity()
            #expect(try identity.certificate.extractPublicKey().toSPKIBytes() == identity.publicKey.bytes)
        }
    }

    /// Verifies the certificate's format, dates and self-signature with OpenSSL.
    @Test("OpenSSL accepts the certificate") func opensslReadsAndVerifiesTheCertificate() async throws {
        let directory = TestFolder()
        let identity = TransportIdentity()
        let der = try identity.certificate.toDERBytes()
        try FileStore().replace(directory.path + "/c.der", with: der)
        let shown = try await Program.run(
            "openssl", ["x509", "-inform", "DER", "-in", directory.path + "/c.der", "-text", "-noout"])
        #expect(shown.contains("Version: 3 (0x2)"))
        #expect(shown.contains("ASN1 OID: prime256v1"))
        #expect(shown.contains("Not Before: Jan  1 00:00:00 1970 GMT"))
        #expect(shown.contains("Not After : Dec 31 23:59:59 9999 GMT"))
        #expect(shown.contains("Subject: CN = smartplug"))
        _ = try await Program.run(
            "openssl", ["x509", "-inform", "DER", "-in", directory.path + "/c.der", "-out", directory.path + "/c.pem"])
        let verdict = try await Program.run(
            "openssl",
            ["verify", "-check_ss_sig", "-CAfile", directory.path + "/c.pem", directory.path + "/c.pem"])
        #expect(verdict == "\(directory.path)/c.pem: OK\n")
    }

    @Test(
        "A text without a P-256 key is an error",
        arguments: [
            "", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            // Ed25519: a valid key of a different type.
            """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
            -----END PRIVATE KEY-----

            """,
        ])
    func whatIsNoKeyIsSaid(text: String) {
        #expect(throws: TransportIdentityError.noKey) { try TransportIdentity(pem: text) }
    }

    @Test("A damaged PEM text results in a usable key or an error") func aDamagedTextIsAKeyOrAnError() {
        let whole = Array(TransportIdentity().pem.utf8)
        var random = Fuzzing.random(5)
        for _ in FuzzRounds(2000) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = .random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: place)
                case _: bytes.insert(contentsOf: bytes[..<place], at: place)
                }
            }
            // A key that is still valid may be the same or a different one, and must be usable.
            let identity = try? TransportIdentity(pem: String(decoding: bytes, as: UTF8.self))
            #expect(identity?.publicKey.bytes.count ?? 91 == 91)
        }
    }

    @Test("No printed form of an identity contains its key") func nothingThatPrintsAnIdentityShowsItsKey() {
        let identity = TransportIdentity()
        var dumped = ""
        dump(identity, to: &dumped)
        let shown = [
            "\(identity)", String(reflecting: identity), dumped, "\([identity])", "\(Optional(identity) as Any)",
        ]
        for text in shown { #expect(text.contains("a transport identity")) }
        let secret = identity.pem.split(separator: "\n")[1]
        for text in shown { #expect(!text.contains(secret)) }
        #expect(Mirror(reflecting: identity).children.isEmpty)
    }

    // MARK: The key file

    @Test("The first start generates a key and the next start reads it")
    func theFirstStartDrawsAKeyAndTheNextFindsIt() throws {
        let directory = TestFolder()
        let path = directory.path + "/key"
        let first = try TransportIdentity.kept(in: path)
        let second = try TransportIdentity.kept(in: path)
        #expect(first.publicKey == second.publicKey)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
    }

    @Test("A damaged key file is refused and not changed") func aDamagedKeyIsRefusedAndKept() throws {
        let directory = TestFolder()
        let path = directory.path + "/key"
        let whole = Array(TransportIdentity().pem.utf8)
        let half = Array(whole.prefix(whole.count / 2))
        try FileStore().replaceSecret(path, with: half)
        let error = #expect(throws: IdentityFileError.self) { try TransportIdentity.kept(in: path) }
        #expect(error == .damaged(path: path, .noKey))
        #expect(
            error.map { "\($0)" } == """
                cannot use the key in \(path): it does not contain a P-256 private key in PEM
                hint: restore the file from a backup, or move it away, restart to create a new key, and pair again
                """)
        #expect(try FileStore().read(path, limit: 1000) == half)
    }

    @Test("A key file that other users can read is refused and not changed")
    func aKeyThatOthersMayReadIsRefusedAndKept() throws {
        let directory = TestFolder()
        let path = directory.path + "/key"
        _ = try TransportIdentity.kept(in: path)
        #expect(chmod(path, 0o644) == 0)
        let error = #expect(throws: IdentityFileError.self) { try TransportIdentity.kept(in: path) }
        #expect(error == .unusable(FileError(.read, path, .exposed(permissions: 0o644))))
        let text = error.map { "\($0)" } ?? ""
        #expect(
            text.hasPrefix("refusing to read the secret \(path): other users have access to it (mode 0644)\nhint: "))
    }

    @Test("Processes that start at the same time use the same key")
    func ofProcessesThatStartAtOnceOneDrawsTheKeyOfAll() async throws {
        let directory = TestFolder()
        let path = directory.path + "/key"
        // The other process writes its key after this one has found no key.
        let other = TransportIdentity()
        let files = FileStore(
            calls: OvertakenCalls { try? FileStore().replaceSecret(path, with: Array(other.pem.utf8)) })
        #expect(try TransportIdentity.kept(in: path, files: files).publicKey == other.publicKey)
    }
}
