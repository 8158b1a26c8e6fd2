import Appliance
import Foundation
import Testing

@testable import PlugConfiguration

/// The file that is installed names every key, and what it says of their defaults is true.
struct PackagedFileTests {
    private let text: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        text = try String(contentsOf: root.appending(path: "Firmware/Packaging/plugd.toml"), encoding: .utf8)
    }

    /// Lines that begin with `#` and no space are keys; those with two are alternatives, or have no default.
    private func uncommented(alternatives: Bool) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.hasPrefix("# ") || line.hasPrefix("## ") || line == "#" { return "" }
            if line.hasPrefix("##") { return alternatives ? String(line.dropFirst(2)) : "" }
            return line.hasPrefix("#") ? String(line.dropFirst()) : String(line)
        }.joined(separator: "\n")
    }

    @Test func asItIsInstalledItSaysNothing() throws {
        #expect(try PlugConfiguration(text, file: "plugd.toml") == PlugConfiguration("", file: "plugd.toml"))
    }

    @Test func everyKeyStandsInItsTable() {
        var found: [String: Set<String>] = [:]
        var table = ""
        for line in uncommented(alternatives: true).split(separator: "\n") {
            if line.hasPrefix("[") {
                table = String(line.dropFirst().prefix { $0 != "]" })
                found[table] = []
            } else {
                found[table, default: []].insert(String(line.prefix { $0 != " " }))
            }
        }
        #expect(found == PlugConfiguration.keys.mapValues { Set($0) })
    }

    @Test func whatItSaysIsWhatAFileWithoutItMeans() throws {
        let plug = try PlugConfiguration(uncommented(alternatives: false), file: "plugd.toml")
        let relay = LineConfiguration(.named("GPIO17"))
        #expect(plug.relay == RelayConfiguration(.plain(relay)))
        #expect(plug.button == ButtonConfiguration(LineConfiguration(.named("GPIO27"), isActiveLow: true)))
        #expect(plug.light == LineConfiguration(.named("GPIO22")))
        #expect(
            plug.meter
                == MeterConfiguration(.ade7953(MeterConfiguration.Chip(bus: "/dev/i2c-1", address: 0x38), .a)))
        #expect(plug.dimmer == DimmerConfiguration(chip: 0, channel: 0))
        #expect(plug.addressing == .auto)
        var usual = ApplianceConfiguration()
        usual.capabilities = [.relay, .button, .meter, .dimmer]
        usual.hasThermometer = true
        usual.switchingRate = .usual
        #expect(plug.appliance == usual)
    }
}
