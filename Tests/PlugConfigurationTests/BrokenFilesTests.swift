import Checkout
import ConfigurationFiles
import Foundation
import Testing

@testable import PlugConfiguration

/// Compares the errors of invalid files in the folder Broken with the expected output of `plugd check --config FILE`.
/// `GOLDEN=write Scripts/test unit` rewrites the expected files. Review them from the view of a user who has to correct
/// the file.
struct BrokenFilesTests {
    private static let folder = Checkout.place("Tests/PlugConfigurationTests/Broken")

    private static let names =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".toml") }.sorted()

    @Test("An invalid file is reported with the places of its errors", arguments: names)
    func isToldWithItsPlace(name: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: name)))
        let error = #expect(throws: ConfigurationError.self) { try PlugConfiguration(bytes, file: name) }
        let told = "Error: the configuration is not valid\n\(try #require(error))\n"
        let golden = Self.folder.appending(path: name.dropLast("toml".count) + "txt")
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            try Data(told.utf8).write(to: golden)
        }
        #expect(told == (try String(contentsOf: golden, encoding: .utf8)))
    }

    @Test("The tests have at least ten invalid configuration files")
    func thereAreTenOfThemAtLeast() { #expect(Self.names.count >= 10) }
}
