public import AddressConfiguration
public import Appliance
public import BrokerConfiguration
public import ConfigurationFiles
public import LinuxNetwork
import ProtocolCore
public import WiFi

/// The parts and settings of one plug, as read from its configuration file.
public struct PlugConfiguration: Hashable, Sendable {
    /// The plug's name; nil for "Plug" and its id.
    public var name: String?
    /// The only network interface to use; nil for all interfaces with multicast.
    public var interface: String?
    /// The mode that decides which program assigns the interfaces' addresses; nil for ``Addressing/auto``.
    public var addressing: Addressing?
    /// The address of ``interface``; nil for one from a DHCP server.
    public var fixedAddress: FixedAddress?
    /// The TCP port; nil for a free port.
    public var port: UInt16?
    /// The setup code after a factory reset.
    public var codeAfterReset = CodeAfterReset.label
    /// The networks behind a router whose controllers may pair.
    public var pairingNetworks: [NetworkPrefix]
    /// The relay; nil if the plug has none.
    public var relay: RelayConfiguration?
    /// The button; nil if the plug has none.
    public var button: ButtonConfiguration?
    /// The line of the status light; nil if the plug has none.
    public var light: LineConfiguration?
    /// The meter; nil if the plug has none.
    public var meter: MeterConfiguration?
    /// The dimmer; nil if the plug has none.
    public var dimmer: DimmerConfiguration?
    /// The path of a kernel file with thousandths of a degree Celsius.
    public var thermometer: String?
    /// The plug's own MQTT broker; nil for none.
    public var broker: BrokerSettings?
    /// The HomeKit settings; nil if HomeKit is disabled.
    public var homeKit: HomeKit?
    /// The Matter settings; nil if Matter is disabled.
    public var matter: Matter?
    /// The radio; nil if another program joins Wi-Fi networks.
    public var wiFi: WiFiSettings?
    /// True or false if the file turns the sleep proxy on or off; nil if the plug decides.
    public var sleepProxy: Bool?
    /// The domain in which the plug registers itself; nil for none.
    public var wideArea: DomainSettings?
    /// All other settings, with the capabilities that follow from the parts.
    public var appliance: ApplianceConfiguration

    /// The configuration of the HomeKit accessory.
    public struct HomeKit: Hashable, Sendable {
        /// The service that represents the plug.
        public enum Service: String, Hashable, Sendable, CaseIterable { case outlet, lightbulb }

        /// The service; nil for a light bulb if the plug has a dimmer, otherwise an outlet.
        public var service: Service?
        /// The TCP port; nil if the plug chooses one.
        public var port: UInt16?
    }

    /// The configuration of the Matter device.
    public struct Matter: Hashable, Sendable {
        /// The UDP port; nil for the usual one.
        public var port: UInt16?
        /// The folder of the attestation credentials; nil for the usual one.
        public var credentials: String?
    }

    /// The mode of the address management; see `AddressingMode`.
    public enum Addressing: String, Hashable, Sendable, CaseIterable { case manage, observe, auto }

    /// The limit of a file in bytes.
    public static let limit = ConfigurationText.limit

    /// Reads a configuration.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - file: its path for messages; the files named in `[mqtt]`, `[matter]` and `[wide_area]` are relative to its directory.
    /// - Throws: all errors of the file.
    public init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        self.init(reader, file: file)
        reader.reportUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }

    /// True if the file configures any parts.
    public var namesParts: Bool {
        relay != nil || button != nil || light != nil || meter != nil || dimmer != nil || thermometer != nil
    }

    /// Reads a configuration from text.
    public init(_ text: String, file: String) throws(ConfigurationError) {
        try self.init(Array(text.utf8), file: file)
    }

    init(_ reader: ConfigurationReader, file: String) {
        let plug = reader.table("plug")
        // The limit of RFC 6763 §4.1.1.
        name = plug.text("name", "the plug's name", longest: 63)
        let network = reader.table("network")
        // The kernel's IFNAMSIZ without the terminating zero.
        interface = network.text("interface", "a network interface's name", longest: 15)
        addressing = network.choice("addressing", Addressing.self)
        fixedAddress = network.fixedAddress(hasInterface: interface != nil, isObserved: addressing == .observe)
        port = network.integer("port", 1...65_535).map { UInt16($0) }
        let pairing = reader.table("pairing")
        if let code = pairing.choice("code_after_reset", CodeAfterReset.self) { codeAfterReset = code }
        pairingNetworks = pairing.networks("networks")
        broker = reader.broker(file: file)
        homeKit = reader.homeKit()
        matter = reader.matter(file: file)
        wiFi = reader.wiFi()
        sleepProxy = reader.table("sleep_proxy").boolean("enabled")
        wideArea = DomainSettings(reader.table("wide_area"), file: file, home: nil)
        relay = reader.relay()
        button = reader.button()
        let light = reader.light()
        self.light = light.line
        meter = reader.meter()
        dimmer = reader.dimmer()
        thermometer = reader.thermometer()
        appliance = reader.appliance(hasRelay: relay != nil)
        appliance.hasThermometer = thermometer != nil
        appliance.lightOff = light.off
        if let button {
            appliance.debounce = button.debounce
            appliance.doublePressWindow = button.doublePressWindow
            appliance.isChildLocked = button.childLock
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
