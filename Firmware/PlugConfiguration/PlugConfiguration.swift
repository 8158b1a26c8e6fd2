public import ConfigurationFiles
public import Appliance
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
    /// Everything else, with the capabilities that follow from the parts.
    public var appliance: ApplianceConfiguration

    public enum Addressing: String, Hashable, Sendable, CaseIterable { case manage, observe, auto }

    /// Bytes of a file that are read.
    public static let limit = ConfigurationText.limit

    /// Reads a configuration, or says everything that is wrong with it.
    ///
    /// - Parameters:
    ///   - bytes: of the file.
    ///   - file: how messages call it.
    public init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        let reader: ConfigurationReader
        do throws(ConfigurationMistake) {
            reader = ConfigurationReader(try ConfigurationText(try ConfigurationText.decode(bytes)))
        } catch {
            throw ConfigurationError(file: file, mistakes: [error])
        }
        self.init(reader)
        reader.tellUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }

    public init(_ text: String, file: String) throws(ConfigurationError) {
        try self.init(Array(text.utf8), file: file)
    }

    init(_ reader: ConfigurationReader) {
        let plug = reader.table("plug")
        // RFC 6763 §4.1.1
        name = plug.text("name", "the plug's name", longest: 63)
        let network = reader.table("network")
        // IFNAMSIZ of the kernel, its closing zero left out.
        interface = network.text("interface", "a network interface's name", longest: 15)
        addressing = network.choice("addressing", Addressing.self)
        port = network.integer("port", 1...65_535).map { UInt16($0) }
        if let code = reader.table("pairing").choice("code_after_reset", CodeAfterReset.self) { codeAfterReset = code }
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
