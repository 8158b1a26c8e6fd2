import PlugModel
import Presentation
import Testing

@testable import Dashboard

@Suite struct SettingsRouteTests {
    private static let restored: [(capabilities: Set<String>, change: SettingsChange)] = [
        (
            ["relay", "meter", "button"],
            SettingsChange(
                powerOn: .asConfigured, autoOff: .asConfigured, powerLimit: .asConfigured, childLock: .asConfigured)
        ),
        (
            ["dimmer", "button"],
            SettingsChange(powerOn: .asConfigured, autoOff: .asConfigured, childLock: .asConfigured)
        ),
        (["meter", "button"], SettingsChange(childLock: .asConfigured)),
    ]

    @Test("Only the settings of parts that a plug has are restored", arguments: restored)
    func restoring(_ capabilities: Set<String>, _ expected: SettingsChange) {
        let known = SettingsRecord(plug: "Lamp", RemoteSettings(powerOn: .off, childLock: true))
        #expect(SettingsChange(restoring: known, capabilities: capabilities) == expected)
    }

    @Test("A plug without output, button and light has nothing to restore")
    func nothing() {
        let known = SettingsRecord(plug: "Sensor", RemoteSettings(powerOn: .off))
        #expect(SettingsChange(restoring: known, capabilities: ["meter"]) == SettingsChange())
    }
}
