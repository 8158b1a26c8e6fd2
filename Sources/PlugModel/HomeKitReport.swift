/// A request of an owner to the plug's HomeKit server.
public enum HomeKitRequest: Hashable, Sendable {
    /// Report the state without changing it.
    case ask
    /// Remove the controller with this identifier.
    case remove([UInt8])
    /// Remove all HomeKit controllers.
    case removeAll
}

/// The state of the plug's HomeKit server, as reported to an owner.
public struct HomeKitReport: Hashable, Sendable {
    /// A controller that is paired by HomeKit.
    public struct Controller: Hashable, Sendable {
        /// The identifier that the controller chose, usually a UUID, at most ``PlugWire/longestHomeKitIdentifier``
        /// bytes.
        public var identifier: [UInt8]
        /// True if the controller may add and remove others.
        public var isAdmin: Bool
        /// The number of its open sessions.
        public var sessions: Int

        /// Creates a description of a controller.
        public init(identifier: [UInt8], isAdmin: Bool, sessions: Int) {
            (self.identifier, self.isAdmin, self.sessions) = (identifier, isAdmin, sessions)
        }
    }

    /// The HomeKit setup code, as XXX-XX-XXX.
    public var setupCode: String
    /// The URI in the setup QR code, beginning with X-HM://.
    public var setupPayload: String
    /// The accessory's device id: six bytes in hexadecimal, separated by colons.
    public var deviceID: String
    /// The paired controllers, at most ``PlugWire/homeKitControllers``.
    public var controllers: [Controller]

    /// Creates a report.
    public init(setupCode: String, setupPayload: String, deviceID: String, controllers: [Controller]) {
        (self.setupCode, self.setupPayload) = (setupCode, setupPayload)
        (self.deviceID, self.controllers) = (deviceID, controllers)
    }
}
