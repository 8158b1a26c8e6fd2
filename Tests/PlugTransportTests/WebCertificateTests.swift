import NIOSSL
import Testing

@testable import PlugTransport

@Suite struct WebCertificateTests {
    @Test("A web certificate has a key and the given names") func itIsAKeyAndACertificateForItsNames() throws {
        let made = WebCertificate(names: ["localhost", "plugs.local"])
        let certificate = try NIOSSLCertificate(bytes: made.certificate, format: .der)
        let key = try NIOSSLPrivateKey(bytes: Array(made.privateKeyPEM.utf8), format: .pem)
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        _ = try NIOSSLContext(configuration: configuration)
        let text = String(decoding: made.certificate, as: UTF8.self)
        #expect(text.contains("localhost") && text.contains("plugs.local"))
    }

    @Test("Each call creates a different certificate") func itIsAnotherOneEachTime() {
        #expect(WebCertificate(names: ["a"]).certificate != WebCertificate(names: ["a"]).certificate)
    }

    @Test("The private key is not printed") func noKeyIsPrinted() {
        let made = WebCertificate(names: ["a"])
        var text = ""
        dump(made, to: &text)
        #expect(!text.contains("PRIVATE KEY") && !"\(made)".contains("PRIVATE KEY"))
    }
}
