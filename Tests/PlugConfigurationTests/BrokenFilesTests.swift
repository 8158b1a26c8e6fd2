import ConfigurationFiles
import Foundation
import Testing

@testable import PlugConfiguration

/// What people get wrong, and what they read then: each file in Broken beside the words of `plugd check --config FILE`.
/// `GOLDEN=write Scripts/test unit` writes these anew: judge them as whoever has to mend the file.
struct BrokenFilesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Broken")

    private static let names =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".toml") }.sorted()

    @Test(arguments: names) func isToldWithItsPlace(name: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: name)))
        let error = #expect(throws: ConfigurationError.self) { try PlugConfiguration(bytes, file: name) }
        let told = "Error: the configuration is refused\n\(try #require(error))\n"
        let golden = Self.folder.appending(path: name.dropLast("toml".count) + "txt")
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            try Data(told.utf8).write(to: golden)
        }
        #expect(told == (try String(contentsOf: golden, encoding: .utf8)))
    }

    @Test func thereAreTenOfThemAtLeast() { #expect(Self.names.count >= 10) }
}
