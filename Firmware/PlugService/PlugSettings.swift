public import AddressConfiguration
public import AddressService
public import Appliance
public import BrokerConfiguration
public import LinuxNetwork
public import PlugHardware
public import WiFi

/// The options with which a plug runs, as given to `plugd run`.
public struct PlugSettings: Sendable {
    /// The requested name. If it is taken, a number is added. Nil selects "Plug" and the short id.
    public var name: String?
    /// The directories of the plug's files.
    public var directories: PlugDirectories
    /// The names of the network interfaces. Empty selects all interfaces that support multicast.
    public var interfaces: Set<String>
    /// The mode that decides who configures the addresses of the interfaces.
    public var addressing: AddressingMode
    /// The addresses that the owner chose, by the name of the interface.
    public var fixedAddresses: [String: FixedAddress] = [:]
    /// The TCP port. 0 selects a free port.
    public var port: UInt16
    /// The configuration of the appliance.
    public var appliance: ApplianceConfiguration
    /// The parts that the plug controls.
    public var parts: PlugParts
    /// The simulated parts that the panel socket controls, or nil.
    public var simulated: SimulatedPlug?
    /// The meter of `parts` and its calibration file, or nil if it cannot be calibrated.
    public var board: (meter: BoardMeter, calibration: CalibrationFile)?
    /// True to leave the relay as it is at an orderly stop, false to turn it off.
    public var keepsRelayOnExit = true
    /// The setup code after a factory reset.
    public var codeAfterReset = CodeAfterReset.label
    /// The networks behind a router whose controllers may pair, and which have the limits of the local network.
    public var pairingNetworks: [NetworkPrefix] = []
    /// The MQTT broker, or nil for none.
    public var broker: BrokerSettings?
    /// The HomeKit accessory, or nil for none.
    public var homeKit: HomeKitSettings?
    /// The Matter device, or nil for none.
    public var matter: MatterSettings?
    /// The radio, or nil if another program joins Wi-Fi networks.
    public var wiFi: WiFiSettings?
    /// True to serve sleeping hosts as a sleep proxy, false not to. With nil the plug does so on the interfaces whose
    /// addresses it manages.
    public var sleepProxy: Bool?
    /// The domain in which the plug registers itself, or nil for none.
    public var wideArea: DomainSettings?
    /// The ``LogRelay`` that the plug's logger writes through. If it is nil, the log cannot be followed over the
    /// network.
    public var log: LogRelay?
    /// The service manager that started the plug, or nil.
    public var supervisor: Supervisor?

    /// Creates settings; the other properties have defaults.
    public init(
        name: String?, directories: PlugDirectories, interfaces: Set<String> = [],
        addressing: AddressingMode = .auto, port: UInt16 = 0, appliance: ApplianceConfiguration, parts: PlugParts,
        simulated: SimulatedPlug? = nil
    ) {
        self.name = name
        self.directories = directories
        self.interfaces = interfaces
        self.addressing = addressing
        self.port = port
        self.appliance = appliance
        self.parts = parts
        self.simulated = simulated
    }

    /// True if only the loopback interface is used. Other hosts then cannot connect.
    var staysOnThisMachine: Bool { interfaces == ["lo"] }
}

/// A service manager with the interface of systemd: sd_notify(3).
public struct Supervisor: Sendable {
    /// Sends a notification such as "READY=1".
    public var notify: @Sendable (String) -> Void
    /// The time without notification after which the service manager kills the service, or nil.
    public var watchdog: Duration?

    /// Creates a service manager.
    public init(watchdog: Duration?, notify: @escaping @Sendable (String) -> Void) {
        self.watchdog = watchdog
        self.notify = notify
    }
}
