public import AddressService
public import Appliance
public import BrokerConfiguration
public import PlugHardware

/// How a plug is run: what `plugd run` was told.
public struct PlugSettings: Sendable {
    /// The name that it asks for; another plug may have it already, then it gets a number. Nil: "Plug" and its id.
    public var name: String?
    public var directories: PlugDirectories
    /// Names of the network interfaces; empty for all that can multicast.
    public var interfaces: Set<String>
    /// Who gives them their addresses.
    public var addressing: AddressingMode
    /// TCP port; 0 lets the kernel pick one.
    public var port: UInt16
    public var appliance: ApplianceConfiguration
    public var parts: PlugParts
    /// Where the parts are simulated: what the panel socket moves.
    public var simulated: SimulatedPlug?
    /// The meter of `parts` where it can be calibrated, and the file of its calibration.
    public var board: (meter: BoardMeter, calibration: CalibrationFile)?
    /// At an orderly stop the relay is left as it is; else it is turned off.
    public var keepsRelayOnExit = true
    /// Which setup code it has after a factory reset.
    public var codeAfterReset = CodeAfterReset.label
    /// The MQTT broker that it speaks to; nil: none.
    public var broker: BrokerSettings?
    /// How it is used by HomeKit; nil: not at all.
    public var homeKit: HomeKitSettings?
    /// Through which the plug's logger writes; nil: nobody can follow the log over the network.
    public var log: LogRelay?
    /// Who started the plug and waits for word of it.
    public var supervisor: Supervisor?

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

    /// Only the loopback interface: nobody outside this machine may connect either.
    var staysOnThisMachine: Bool { interfaces == ["lo"] }
}

/// A service manager as systemd is one: sd_notify(3).
public struct Supervisor: Sendable {
    /// Tells it something, such as "READY=1".
    public var notify: @Sendable (String) -> Void
    /// It kills a service from which it hears nothing for so long; nil: it does not.
    public var watchdog: Duration?

    public init(watchdog: Duration?, notify: @escaping @Sendable (String) -> Void) {
        self.watchdog = watchdog
        self.notify = notify
    }
}
