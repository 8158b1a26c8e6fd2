import Appliance
import Checkout
import ConfigurationFiles
import Foundation
import Testing

@testable import PlugConfiguration

/// Tests that the installed file lists every key and documents the actual defaults.
struct PackagedFileTests {
    private static let folder = Checkout.place("Firmware/Packaging")
    private let text: String

    init() throws {
        text = try String(contentsOf: Self.folder.appending(path: "plugd.toml"), encoding: .utf8)
    }

    /// The file with its default keys enabled: lines that begin with `#` and no space lose the `#`. All other comments
    /// are removed. Lines that begin with `##` are texts, alternatives or keys without a default.
    private var uncommented: String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("##") || line.hasPrefix("# ") || line == "#" ? "" : String(line.drop { $0 == "#" })
        }.joined(separator: "\n")
    }

    @Test("The installed file is equivalent to an empty one") func asItIsInstalledItSaysNothing() throws {
        #expect(try PlugConfiguration(text, file: "plugd.toml") == PlugConfiguration("", file: "plugd.toml"))
    }

    /// Returns all possible keys by table, with the ranges or words that error messages name.
    private func known() throws -> [String: [String: Set<String>]] {
        let kinds = ["ade7953", "ina219", "ina226", "ina260", "hwmon", "iio"].map { "[meter]\nkind = \"\($0)\"" }
        var known: [String: [String: Set<String>]] = [:]
        for sample in kinds + ["[relay]\nkind = \"latching\""] {
            let reader = ConfigurationReader(try ConfigurationText(sample))
            _ = PlugConfiguration(reader, file: "plugd.toml")
            for (table, keys) in reader.known {
                known[table, default: [:]].merge(keys) { $0.union($1) }
            }
        }
        return known
    }

    /// The keys of the file by table, each with the comment above it, which several keys may share.
    private var commented: [String: [String: String]] {
        var found: [String: [String: String]] = [:]
        var (table, comment, isComment) = ("", "", false)
        for line in text.split(separator: "\n") where line.hasPrefix("#") && !line.hasPrefix("# ") {
            let words = line.drop { $0 == "#" }
            if line.hasPrefix("## ") {
                comment = isComment ? comment + words : String(words)
                isComment = true
            } else if words.hasPrefix("[") {
                (table, comment, isComment) = (String(words.dropFirst().prefix { $0 != "]" }), "", false)
                found[table] = [:]
            } else {
                found[table]?[String(words.prefix { $0 != " " })] = comment
                isComment = false
            }
        }
        return found
    }

    @Test("Every key is listed in its table") func everyKeyStandsInItsTable() throws {
        #expect(commented.mapValues { Set($0.keys) } == (try known()).mapValues { Set($0.keys) })
    }

    @Test("Every key has a comment with its range or its allowed words")
    func everyKeyHasACommentWithItsRangeOrItsWords() throws {
        let commented = commented
        for (table, keys) in try known() {
            for (key, words) in keys {
                let comment = try #require(commented[table]?[key], "[\(table)] \(key)")
                #expect(!comment.isEmpty, "[\(table)] \(key)")
                for word in words {
                    #expect(comment.contains(word), "the comment of [\(table)] \(key) omits \(word):\(comment)")
                }
            }
        }
    }

    /// Tests documented defaults of keys that apply only to some kinds of relays and meters.
    @Test("The documented defaults of a latching relay and of an INA260 are correct")
    func whatOtherPartsMeanWithoutThem() throws {
        let latching = "[relay]\nkind = \"latching\"\non_line = \"A\"\noff_line = \"B\"\n"
        let plug = try PlugConfiguration(latching + "[meter]\nkind = \"ina260\"", file: "plugd.toml")
        guard case .latching(_, _, .milliseconds(50)) = plug.relay?.kind else {
            Issue.record("\(String(describing: plug.relay))")
            return
        }
        #expect(plug.meter?.kind == .ina260(MeterConfiguration.Chip(bus: "/dev/i2c-1", address: 0x40)))
        #expect(plug.name == nil && plug.interface == nil && plug.port == nil)
    }

    /// A profile is valid and uses the pins of the wiring table.
    @Test("A profile configures a complete plug", arguments: ["raspberry-pi", "bench"])
    func aProfileIsAWholePlug(name: String) throws {
        let bytes = try Data(contentsOf: Self.folder.appending(path: "profiles/\(name).toml"))
        let plug = try PlugConfiguration([UInt8](bytes), file: name)
        guard case .plain(let relay) = plug.relay?.kind, let meter = plug.meter else {
            Issue.record("the profile \(name) has no plain relay or no meter")
            return
        }
        #expect(relay.place == .named("GPIO17") && plug.button?.line.place == .named("GPIO27"))
        #expect(plug.button?.line.isActiveLow == true && plug.light?.place == .named("GPIO22"))
        let (isBench, bus) = (name == "bench", "/dev/i2c-1")
        #expect(!relay.isActiveLow)
        #expect(
            meter.kind
                == (isBench
                    ? .ina226(.init(bus: bus, address: 0x40), shuntOhms: 0.1)
                    : .ade7953(.init(bus: bus, address: 0x38), .a)))
        #expect(plug.appliance.overVoltage?.decivolts == (isBench ? 144 : 2760))
        #expect(plug.appliance.overCurrent?.ratedMilliamperes == (isBench ? 700 : 10_000))
        #expect(plug.appliance.capabilities == [.relay, .button, .meter])
    }

    @Test("The documented values are the defaults") func whatItSaysIsWhatAFileWithoutItMeans() throws {
        let plug = try PlugConfiguration(uncommented, file: "plugd.toml")
        let relay = LineConfiguration(.named("GPIO17"))
        #expect(plug.relay == RelayConfiguration(.plain(relay)))
        #expect(plug.button == ButtonConfiguration(LineConfiguration(.named("GPIO27"), isActiveLow: true)))
        #expect(plug.light == LineConfiguration(.named("GPIO22")))
        #expect(
            plug.meter
                == MeterConfiguration(.ade7953(MeterConfiguration.Chip(bus: "/dev/i2c-1", address: 0x38), .a)))
        #expect(plug.dimmer == DimmerConfiguration(chip: 0, channel: 0))
        #expect(plug.thermometer == "/sys/class/thermal/thermal_zone0/temp")
        #expect(plug.addressing == .auto && plug.codeAfterReset == .label)
        let broker = try PlugConfiguration("[mqtt]\nhost = \"broker.local\"", file: "plugd.toml").broker
        #expect(plug.broker == broker && broker?.account.servers.map(\.port) == [8883])
        var usual = ApplianceConfiguration()
        usual.capabilities = [.relay, .button, .meter, .dimmer]
        usual.hasThermometer = true
        usual.switchingRate = .usual
        #expect(plug.appliance == usual)
    }
}
