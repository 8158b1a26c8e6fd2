/// What an owner wants of the plug's HomeKit door.
public enum HomeKitOrder: Hashable, Sendable {
    case ask
    /// Remove the controller of this identifier.
    case remove([UInt8])
    case removeAll
}

/// The plug's HomeKit door, as its owner sees it.
public struct HomeKitReport: Hashable, Sendable {
    public struct Controller: Hashable, Sendable {
        /// As it calls itself, a UUID as a rule; at most ``PlugWire/longestHomeKitIdentifier`` bytes.
        public var identifier: [UInt8]
        /// It may add and remove others.
        public var isAdmin: Bool
        /// That it has now.
        public var sessions: Int

        public init(identifier: [UInt8], isAdmin: Bool, sessions: Int) {
            (self.identifier, self.isAdmin, self.sessions) = (identifier, isAdmin, sessions)
        }
    }

    /// XXX-XX-XXX.
    public var setupCode: String
    /// Of its QR code: X-HM://...
    public var setupPayload: String
    /// Six bytes in hexadecimal, with colons.
    public var deviceID: String
    /// At most ``PlugWire/homeKitControllers``.
    public var controllers: [Controller]

    public init(setupCode: String, setupPayload: String, deviceID: String, controllers: [Controller]) {
        (self.setupCode, self.setupPayload) = (setupCode, setupPayload)
        (self.deviceID, self.controllers) = (deviceID, controllers)
    }
}
