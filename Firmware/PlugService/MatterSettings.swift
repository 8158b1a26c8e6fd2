import MatterCryptography
public import MatterDoor
public import PlugConfiguration

/// The configuration of the Matter device.
public struct MatterSettings: Hashable, Sendable {
    /// The UDP port.
    public var port: UInt16
    /// The folder of the attestation credentials; see ``MatterDoor/MatterCredentials``.
    public var credentials: String

    /// The folder of the credentials if the configuration names none.
    public static let usualCredentials = "/etc/smartplug/matter"

    /// Creates the settings.
    public init(port: UInt16 = MatterDoor.usualPort, credentials: String = MatterSettings.usualCredentials) {
        self.port = port
        self.credentials = credentials
    }

    /// Creates the settings of a configuration file.
    public init(_ configuration: PlugConfiguration.Matter) {
        self.init(
            port: configuration.port ?? MatterDoor.usualPort,
            credentials: configuration.credentials ?? Self.usualCredentials)
    }

    /// The reason, apart from the network and the state directory, why the device cannot start, or nil.
    public var fault: String? {
        do {
            _ = try MatterCredentials(folder: credentials)
            _ = try OpenSSLCryptography()
            return nil
        } catch {
            return "\(error)"
        }
    }
}
