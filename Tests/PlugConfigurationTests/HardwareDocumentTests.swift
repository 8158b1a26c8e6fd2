import Checkout
import Foundation
import Testing

@testable import PlugConfiguration

/// Tests that the configurations in the hardware documents are valid.
struct HardwareDocumentTests {
    private static let documents = [
        "Documentation/reference/hardware.md", "Documentation/reference/hardware/bench.md",
        "Documentation/reference/hardware/mains.md",
    ]

    private func configurations(in document: String) throws -> [String] {
        let text = try String(contentsOf: Checkout.place(document), encoding: .utf8)
        return text.components(separatedBy: "\n```toml\n").dropFirst().map {
            $0.components(separatedBy: "\n```\n")[0]
        }
    }

    @Test("Every configuration in the documents is accepted", arguments: documents)
    func everyConfigurationInTheDocumentsIsTaken(document: String) throws {
        let all = try configurations(in: document)
        #expect(!all.isEmpty)
        for text in all {
            #expect(throws: Never.self) { try PlugConfiguration(text, file: document) }
        }
    }

    @Test("Both builds in the documents use the same GPIO lines and have different limits")
    func bothBuildsUseTheSameLinesAndTheirOwnMeters() throws {
        let bench = try PlugConfiguration(configurations(in: Self.documents[1])[0], file: "bench.md")
        let mains = try PlugConfiguration(configurations(in: Self.documents[2])[0], file: "mains.md")
        #expect(bench.relay == RelayConfiguration(.plain(LineConfiguration(.named("GPIO17")))))
        #expect(bench.relay == mains.relay)
        #expect(bench.button == mains.button)
        #expect(bench.light == mains.light)
        #expect(bench.appliance.overPower?.deciwatts == 84)
        #expect(mains.appliance.overPower?.deciwatts == 23_000)
        #expect(mains.appliance.overCurrent?.instantMilliamperes == 25_000)
    }
}
