import Appliance
import PlugModel
import Testing
import WiFi

@testable import PlugConfiguration

/// Tests of reading a configuration file.
struct PlugConfigurationTests {
    private func parse(_ text: String) throws -> PlugConfiguration { try PlugConfiguration(text, file: "plugd.toml") }

    @Test("An empty file is a plug without parts") func anEmptyFileIsAPlugWithoutParts() throws {
        let plug = try parse("")
        #expect(plug.relay == nil && plug.button == nil && plug.light == nil && plug.meter == nil)
        #expect(plug.dimmer == nil && plug.thermometer == nil && plug.name == nil && plug.codeAfterReset == .label)
        #expect(plug.appliance.capabilities.isEmpty)
        var defaults = ApplianceConfiguration()
        defaults.capabilities = []
        #expect(plug.appliance == defaults)
    }

    @Test("An interface has the address that the owner chose") func fixedAddress() throws {
        let plug = try parse(
            """
            [network]
            interface = "eth0"
            address = "192.168.1.20/24"
            router = "192.168.1.1"
            name_servers = ["192.168.1.1", "9.9.9.9"]
            """)
        #expect(plug.fixedAddress?.line == "192.168.1.20/24,192.168.1.1,192.168.1.1,9.9.9.9")
        #expect(try parse("[network]\ninterface = \"eth0\"").fixedAddress == nil)
    }

    @Test("A complete plug is read") func aWholePlugIsRead() throws {
        let plug = try parse(
            """
            [plug]
            name = "Küche"
            [network]
            interface = "wlan0"
            addressing = "observe"
            port = 7001
            [pairing]
            code_after_reset = "new"
            networks = ["10.9.0.0/24", "2001:db8::/32"]
            [relay]
            line = "GPIO17"
            active_low = true
            on_exit = "off"
            [button]
            chip = "gpiochip0"
            offset = 27
            active_low = false
            bias = "pull-down"
            debounce_ms = 5
            double_press_ms = 0
            child_lock = true
            [light]
            line = "GPIO22"
            off = "22:00-07:00"
            [meter]
            kind = "ade7953"
            channel = "B"
            interval_s = 0.1
            no_load_w = 1.5
            calibration = "/etc/smartplug/calibration.toml"
            [dimmer]
            pwm_chip = 0
            pwm_channel = 1
            frequency_hz = 200.5
            minimum = 0.1
            gamma = 2.2
            inverted = true
            [thermometer]
            path = "/sys/class/thermal/thermal_zone0/temp"
            [power]
            power_on = "on"
            auto_off_s = 90
            """)
        #expect(plug.name == "Küche" && plug.interface == "wlan0" && plug.addressing == .observe && plug.port == 7001)
        #expect(
            plug.relay
                == RelayConfiguration(.plain(LineConfiguration(.named("GPIO17"), isActiveLow: true)), onExit: .off))
        #expect(
            plug.button
                == ButtonConfiguration(
                    LineConfiguration(.numbered(chip: "/dev/gpiochip0", offset: 27)), bias: .pullDown,
                    debounce: .milliseconds(5), doublePressWindow: .zero, childLock: true))
        #expect(plug.light == LineConfiguration(.named("GPIO22")) && plug.codeAfterReset == .new)
        #expect(
            plug.meter
                == MeterConfiguration(
                    .ade7953(MeterConfiguration.Chip(bus: "/dev/i2c-1", address: 0x38), .b),
                    interval: .milliseconds(100), noLoad: 1.5, calibration: "/etc/smartplug/calibration.toml"))
        #expect(
            plug.dimmer
                == DimmerConfiguration(
                    chip: 0, channel: 1, frequency: 200.5, minimum: 0.1, gamma: 2.2, isInverted: true))
        #expect(plug.thermometer == "/sys/class/thermal/thermal_zone0/temp")
        let appliance = plug.appliance
        #expect(appliance.capabilities == [.relay, .button, .meter, .dimmer])
        #expect(appliance.powerOnState == .on && appliance.autoOff == .seconds(90))
        #expect(appliance.meterInterval == .milliseconds(100) && appliance.debounce == .milliseconds(5))
        #expect(appliance.doublePressWindow == .zero && appliance.isChildLocked)
        #expect(appliance.lightOff == DailySpan(from: 1320, until: 420) && plug.pairingNetworks.count == 2)
    }

    @Test("A latching relay has two lines") func aLatchingRelayHasTwoLines() throws {
        let plug = try parse(
            """
            relay = { kind = "latching", chip = "/dev/gpiochip1", on_offset = 4, off_offset = 5, pulse_ms = 30 }
            """)
        let lines = [4, 5].map { LineConfiguration(.numbered(chip: "/dev/gpiochip1", offset: $0)) }
        #expect(plug.relay?.kind == .latching(on: lines[0], off: lines[1], pulse: .milliseconds(30)))
        #expect(plug.relay?.onExit == .keep)
    }

    private static let chip = MeterConfiguration.Chip(bus: "/dev/i2c-1", address: 0x40)

    @Test(
        "Every kind of meter is read",
        arguments: [
            ("kind = \"ina219\"\nshunt_ohms = 0.1", MeterConfiguration.Kind.ina219(Self.chip, shuntOhms: 0.1)),
            ("kind = \"ina226\"\nshunt_ohms = 0.002", .ina226(Self.chip, shuntOhms: 0.002)),
            ("kind = \"ina260\"", .ina260(Self.chip)),
            (
                "kind = \"ina260\"\nbus = \"/dev/i2c-0\"\naddress = 0x4F",
                .ina260(MeterConfiguration.Chip(bus: "/dev/i2c-0", address: 0x4F))
            ),
            ("kind = \"hwmon\"\nname = \"ina226\"", .hwmon(.named("ina226"))),
            ("kind = \"iio\"\npath = \"/sys/bus/iio/0\"", .iio(.directory("/sys/bus/iio/0"))),
        ])
    func everyMeterIsRead(text: String, kind: MeterConfiguration.Kind) throws {
        let plug = try parse("[meter]\n" + text)
        #expect(plug.meter == MeterConfiguration(kind))
        #expect(plug.appliance.capabilities == [.meter])
    }

    @Test("The ratings set the limits, and single keys override them")
    func whatThePlugMayCarrySetsTheLimitsAndSingleKeysGoOverThem() throws {
        let plug = try parse(
            """
            [meter]
            kind = "ina260"
            [thermometer]
            path = "/t"
            [protection]
            rated_current_a = 3
            rated_voltage_v = 24
            over_power_w = 50
            over_power_s = 2
            instant_current_a = 5.5
            twice_rated_s = 4
            under_voltage_v = 18.5
            voltage_s = 1
            over_temperature_c = 70
            welded_relay = false
            rest_s = 30
            switches = 6
            switches_window_s = 60
            """)
        let appliance = plug.appliance
        #expect(appliance.overPower == OverPowerLimit(deciwatts: 500, duration: .seconds(2)))
        #expect(
            appliance.overCurrent
                == OverCurrentLimits(
                    ratedMilliamperes: 3000, instantMilliamperes: 5500, atTwiceRated: .seconds(4)))
        #expect(appliance.overVoltage == VoltageLimit(decivolts: 288, duration: .seconds(1)))
        #expect(appliance.underVoltage == VoltageLimit(decivolts: 185, duration: .seconds(1)))
        #expect(appliance.overTemperature == TemperatureLimit(decidegrees: 700, hysteresis: 150))
        #expect(appliance.weldedRelay == nil && appliance.rest == .seconds(30))
        #expect(appliance.switchingRate == SwitchingRate(count: 6, window: .seconds(60)))
    }

    /// A plug without [relay] has no relay that wears out.
    @Test("The switching rate of a relay is limited by default") func aRealRelaysSwitchingIsLimited() throws {
        #expect(try parse("").appliance.switchingRate == nil)
        #expect(try parse("[relay]\nline = \"A\"").appliance.switchingRate == .usual)
        #expect(try parse("[relay]\nline = \"A\"\n[protection]\nswitches = 0").appliance.switchingRate == nil)
    }

    @Test("Zero disables a limit") func zeroTurnsOff() throws {
        let keys = ["over_power_w", "over_voltage_v", "over_temperature_c", "rest_s"].map { $0 + " = 0" }
        let text = "[power]\nauto_off_s = 0\n[protection]\nover_current = false\n" + keys.joined(separator: "\n")
        let appliance = try parse(text).appliance
        #expect(appliance.autoOff == nil && appliance.overPower == nil && appliance.overCurrent == nil)
        #expect(appliance.overVoltage == nil && appliance.overTemperature == nil && appliance.rest == nil)
    }

    @Test("The table [mqtt] has the same keys as [broker] in the broker.toml of a house")
    func aBrokerIsNamedAsAHouseNamesIt() throws {
        let plug = try PlugConfiguration(
            """
            [mqtt]
            host = ["a.local", "b.local:8884"]
            ca = "ca.pem"
            user = "lamp"
            password_file = "broker-password"
            house = "floor-2"
            commands = false
            [home_assistant]
            discovery = false
            """, file: "/etc/smartplug/plugd.toml")
        let broker = try #require(plug.broker)
        #expect(broker.account.servers.map(\.text) == ["a.local:8883", "b.local:8884"])
        #expect(broker.account.trust == .file("/etc/smartplug/ca.pem"))
        #expect(broker.account.passwordFile == "/etc/smartplug/broker-password")
        #expect(broker.tree.house == "floor-2" && !broker.takesCommands && broker.discovery == nil)
        #expect(!plug.namesParts)
        #expect(try parse("").broker == nil, "a plug uses no broker by default")
    }

    @Test(
        "An invalid broker configuration is rejected",
        arguments: [
            ("[mqtt]\n", "[mqtt] host: missing: the broker's name or address"),
            ("[mqtt]\nhost = \"a\"\npassword_file = \"~/secret\"\nuser = \"a\"", "a plug has no home directory"),
            ("[home_assistant]\ndiscovery = false", "Home Assistant discovery needs an [mqtt] table"),
            ("[mqtt]\nhost = \"a\"\nhuose = \"b\"", "did you mean house?"),
        ])
    func aBrokerThatCannotBeMeantIsRefused(_ text: String, _ words: String) {
        #expect {
            try parse(text)
        } throws: { error in
            "\(error)".contains(words) && "\(error)".split(separator: "\n").count == 1
        }
    }

    @Test("Without [wifi] the plug joins no Wi-Fi networks") func wiFi() throws {
        #expect(try parse("").wiFi == nil && parse("[wifi]\ncountry = \"DE\"").wiFi == nil)
        let usual = try #require(try parse("[wifi]\ninterface = \"wlan0\"").wiFi)
        #expect(usual == WiFiSettings(interface: "wlan0"))
        let given = try parse("[wifi]\ninterface = \"wlan1\"\ncountry = \"se\"\ncontrol_folder = \"/run/wpa\"").wiFi
        #expect(
            given == WiFiSettings(interface: "wlan1", controlFolder: "/run/wpa", country: WiFiCountry(rawValue: "SE")))
    }

    @Test("Matter is off by default, and its folder of credentials is relative to the file") func matter() throws {
        #expect(try parse("").matter == nil && parse("[matter]\nport = 5541").matter == nil)
        let usual = try #require(try parse("[matter]\nenabled = true").matter)
        #expect(usual.port == nil && usual.credentials == nil)
        let other = try PlugConfiguration(
            "[matter]\nenabled = true\nport = 5541\ncredentials = \"matter\"", file: "/etc/smartplug/plugd.toml")
        #expect(other.matter?.port == 5541 && other.matter?.credentials == "/etc/smartplug/matter")
        #expect(!other.namesParts)
    }
}
