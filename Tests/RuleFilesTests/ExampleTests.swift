import Checkout
import Foundation
import RuleChecks
import RuleFiles
import RuleModel
import Testing

@Suite("Example files")
struct ExampleTests {
    /// The texts of the example files, by name.
    static var examples: [String: String] {
        get throws {
            let folder = Checkout.place("Controller/Examples")
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            let pairs = try files.filter { $0.pathExtension == "yaml" }.map {
                ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            }
            return Dictionary(uniqueKeysWithValues: pairs)
        }
    }

    @Test("Each example is valid and has the expected rules")
    func examples() throws {
        let examples = try Self.examples
        let names = try examples.mapValues { try RuleFile(name: "example", text: $0).rules.map(\.name) }
        #expect(
            names == [
                "television.yaml": ["Movie night", "Movie over"],
                "button-light.yaml": ["Light by the button", "Soft light in the evening"],
                "laundry.yaml": ["Laundry is done"], "refrigerator.yaml": ["Refrigerator left open"],
                "standby.yaml": ["Standby killer"], "bathroom-fan.yaml": ["Fan by the button", "Fan off"],
                "wake-up-light.yaml": ["Wake-up light"],
            ])
    }

    @Test("The examples cause no findings, separately and together")
    func areSound() throws {
        let files = try Self.examples.sorted { $0.key < $1.key }.map {
            try RuleFile(name: $0.key, text: $0.value).rules
        }
        for rules in files + [files.flatMap { $0 }] {
            let findings = RuleCheck.findings(rules, in: nil, knowsSun: false)
            #expect(findings.map(\.message) == [])
        }
    }

    @Test("The television example turns the light off and the amplifier on, and restores both")
    func television() throws {
        let text = try #require(try Self.examples["television.yaml"])
        let rules = try RuleFile(name: "television.yaml", text: text).rules
        #expect(
            rules.map(\.triggers) == [
                [.activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3)))],
                [.activePower(plug: "Television", PowerThreshold(.fallsBelow, watts: 20, dwell: .seconds(10)))],
            ])
        #expect(
            rules.map(\.actions) == [
                [.turnOff(["Ceiling Light"]), .turnOn(["Amplifier"])],
                [.restore(["Ceiling Light", "Amplifier"])],
            ])
    }
}
