public import MatterSessions

/// The optional parts of a plug.
public struct NodeFeatures: Hashable, Sendable {
    /// True if the plug dims its load.
    public var dims: Bool
    /// True if the plug measures power and energy.
    public var meters: Bool
    /// True if the plug has a button whose presses are events.
    public var hasButton: Bool

    /// Creates a set of features.
    public init(dims: Bool, meters: Bool, hasButton: Bool) {
        (self.dims, self.meters, self.hasButton) = (dims, meters, hasButton)
    }
}

/// The credentials with which a device proves its origin to a commissioner (Matter 6.2).
public struct AttestationCredentials: Hashable, Sendable, CustomStringConvertible {
    /// The device attestation certificate in DER.
    public var dac: [UInt8]
    /// The certificate of the product attestation intermediate in DER.
    public var pai: [UInt8]
    /// The certification declaration: a CMS message in DER.
    public var declaration: [UInt8]
    /// The private key of the device attestation certificate, 32 bytes.
    public var key: [UInt8]

    /// Creates credentials.
    public init(dac: [UInt8], pai: [UInt8], declaration: [UInt8], key: [UInt8]) {
        (self.dac, self.pai, self.declaration, self.key) = (dac, pai, declaration, key)
    }

    /// Omits the private key.
    public var description: String { "attestation certificate of \(dac.count) bytes" }
}

extension MatterDevice {
    /// The constant settings of a device.
    public struct Configuration: Sendable {
        /// The vendor id. 0xFFF1 to 0xFFF4 are for tests.
        public var vendor: UInt16
        /// The product id.
        public var product: UInt16
        /// The verifier of the passcode on the label.
        public var verifier: SpakeVerifier
        /// The discriminator on the label, 12 bits.
        public var discriminator: UInt16
        /// The vendor's name, at most 32 bytes.
        public var vendorName: String
        /// The product's name, at most 32 bytes.
        public var productName: String
        /// The serial number, at most 32 bytes.
        public var serialNumber: String
        /// The version of the firmware as a text, at most 64 bytes.
        public var firmware: String
        /// The version of the firmware as a number that increases with each version.
        public var firmwareNumber: UInt32
        /// The version of the hardware.
        public var hardwareVersion: UInt16
        /// The version of the hardware as a text, at most 64 bytes.
        public var hardwareVersionName: String
        /// The optional parts.
        public var features: NodeFeatures
        /// The credentials for attestation.
        public var attestation: AttestationCredentials
        /// An id of this device that does not reveal its serial number, at most 32 bytes.
        public var uniqueID: String
        /// The hardware address of the network interface, 6 bytes. It is also the host name of announcements.
        public var hardwareAddress: [UInt8]
        /// The name of the network interface.
        public var interfaceName: String
        /// The name that the device has before a controller or the user changes it.
        public var name: String
        /// The reason why the device started.
        public var startReason: MatterStartReason

        /// Creates a configuration.
        public init(
            vendor: UInt16 = 0xFFF1, product: UInt16 = 0x8001, verifier: SpakeVerifier, discriminator: UInt16,
            vendorName: String, productName: String, serialNumber: String, firmware: String, firmwareNumber: UInt32 = 1,
            hardwareVersion: UInt16 = 1, hardwareVersionName: String = "1", features: NodeFeatures,
            attestation: AttestationCredentials, uniqueID: String, hardwareAddress: [UInt8], interfaceName: String,
            name: String = "", startReason: MatterStartReason = .unspecified
        ) {
            (self.vendor, self.product) = (vendor, product)
            (self.verifier, self.discriminator) = (verifier, discriminator)
            (self.vendorName, self.productName, self.serialNumber) = (vendorName, productName, serialNumber)
            (self.firmware, self.firmwareNumber) = (firmware, firmwareNumber)
            (self.hardwareVersion, self.hardwareVersionName) = (hardwareVersion, hardwareVersionName)
            (self.features, self.attestation, self.uniqueID) = (features, attestation, uniqueID)
            (self.hardwareAddress, self.interfaceName) = (hardwareAddress, interfaceName)
            (self.name, self.startReason) = (name, startReason)
        }
    }
}
