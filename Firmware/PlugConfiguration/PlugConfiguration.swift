public import Appliance
public import BrokerConfiguration
public import ConfigurationFiles
import ProtocolCore

/// What one plug is built of and how it is set up, as its configuration file says it.
public struct PlugConfiguration: Hashable, Sendable {
    /// What people call it; nil: "Plug" and its id.
    public var name: String?
    /// The only network interface; nil: all that can multicast.
    public var interface: String?
    /// The word for who gives the interfaces their addresses.
    public var addressing: Addressing?
    public var port: UInt16?
    public var codeAfterReset = CodeAfterReset.label
    public var relay: RelayConfiguration?
    public var button: ButtonConfiguration?
    public var light: LineConfiguration?
    public var meter: MeterConfiguration?
    public var dimmer: DimmerConfiguration?
    /// The path of a file of the kernel with thousandths of a degree Celsius.
    public var thermometer: String?
    /// The MQTT broker that it speaks to by itself; nil: none.
    public var broker: BrokerSettings?
    /// How it is used by HomeKit; nil: not at all.
    public var homeKit: HomeKit?
    /// Everything else, with the capabilities that follow from the parts.
    public var appliance: ApplianceConfiguration

    public struct HomeKit: Hashable, Sendable {
        public enum Service: String, Hashable, Sendable, CaseIterable { case outlet, lightbulb }

        /// Nil: a light bulb where the plug dims, an outlet where not.
        public var service: Service?
        /// TCP port; nil: the plug picks one.
        public var port: UInt16?
    }

    public enum Addressing: String, Hashable, Sendable, CaseIterable { case manage, observe, auto }

    /// Bytes of a file that are read.
    public static let limit = ConfigurationText.limit

    /// Reads a configuration, or says everything that is wrong with it.
    ///
    /// - Parameters:
    ///   - bytes: of the file.
    ///   - file: its path; messages call it so, and files that `[mqtt]` names are looked for beside it.
    public init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        self.init(reader, file: file)
        reader.tellUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }

    /// It says what the plug is built of.
    public var namesParts: Bool {
        relay != nil || button != nil || light != nil || meter != nil || dimmer != nil || thermometer != nil
    }

    public init(_ text: String, file: String) throws(ConfigurationError) {
        try self.init(Array(text.utf8), file: file)
    }

    init(_ reader: ConfigurationReader, file: String) {
        let plug = reader.table("plug")
        // RFC 6763 §4.1.1
        name = plug.text("name", "the plug's name", longest: 63)
        let network = reader.table("network")
        // IFNAMSIZ of the kernel, its closing zero left out.
        interface = network.text("interface", "a network interface's name", longest: 15)
        addressing = network.choice("addressing", Addressing.self)
        port = network.integer("port", 1...65_535).map { UInt16($0) }
        if let code = reader.table("pairing").choice("code_after_reset", CodeAfterReset.self) { codeAfterReset = code }
        broker = reader.broker(file: file)
        homeKit = reader.homeKit()
        relay = reader.relay()
        button = reader.button()
        light = reader.light()
        meter = reader.meter()
        dimmer = reader.dimmer()
        thermometer = reader.thermometer()
        appliance = reader.appliance(hasRelay: relay != nil)
        appliance.hasThermometer = thermometer != nil
        if let button {
            appliance.debounce = button.debounce
            appliance.doublePressWindow = button.doublePressWindow
        }
        if let meter {
            appliance.meterInterval = meter.interval
        }
        appliance.capabilities = []
        if relay != nil { appliance.capabilities.insert(.relay) }
        if button != nil { appliance.capabilities.insert(.button) }
        if meter != nil { appliance.capabilities.insert(.meter) }
        if dimmer != nil { appliance.capabilities.insert(.dimmer) }
    }
}
