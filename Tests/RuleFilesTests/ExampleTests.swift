import Automation
import Foundation
import RuleFiles
import Testing

@Suite("Examples")
struct ExampleTests {
    /// The text of the example files, by name.
    static var examples: [String: String] {
        get throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let folder = root.appending(path: "Controller/Examples")
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            let pairs = try files.filter { $0.pathExtension == "yaml" }.map {
                ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            }
            return Dictionary(uniqueKeysWithValues: pairs)
        }
    }

    @Test("Each example is read, and the story's rules are in it")
    func examples() throws {
        let examples = try Self.examples
        let names = try examples.mapValues { try RuleFile(name: "example", text: $0).rules.map(\.name) }
        #expect(
            names == [
                "movie-night.yaml": ["Movie night", "Movie over"],
                "button-light.yaml": ["Light by the button", "Soft light in the evening"],
            ])
    }

    @Test("Movie night: the light goes off and the amplifier on, and back")
    func movieNight() throws {
        let text = try #require(try Self.examples["movie-night.yaml"])
        let rules = try RuleFile(name: "movie-night.yaml", text: text).rules
        #expect(
            rules.map(\.triggers) == [
                [.activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3)))],
                [.activePower(plug: "Television", PowerThreshold(.fallsBelow, watts: 20, dwell: .seconds(10)))],
            ])
        #expect(
            rules.map(\.actions) == [
                [.turnOff(["Ceiling Light"]), .turnOn(["Amplifier"])], [.turnOff(["Amplifier"])],
            ])
    }
}
