/// A request of an owner to the plug's Matter device.
public enum MatterRequest: Hashable, Sendable {
    /// Report the state without changing it.
    case ask
    /// Open the commissioning window for this duration, at most ``PlugWire/longestMatterWindow``. Zero closes it.
    case openWindow(Duration)
    /// Remove the fabric with this index, from 1 to 254.
    case remove(UInt8)
    /// Remove all fabrics.
    case removeAll
}

/// The state of the plug's Matter device, as reported to an owner.
public struct MatterReport: Hashable, Sendable {
    /// A fabric: the controllers of one administrator.
    public struct Fabric: Hashable, Sendable {
        /// The index at the plug, from 1 to 254.
        public var index: UInt8
        /// The fabric's id.
        public var fabricID: UInt64
        /// The plug's node id in the fabric.
        public var nodeID: UInt64
        /// The vendor id of the administrator.
        public var vendor: UInt16
        /// The label that the administrator chose, at most ``PlugWire/longestMatterLabel`` bytes. It can be empty.
        public var label: String
        /// The number of open sessions.
        public var sessions: Int

        /// Creates a description of a fabric.
        public init(index: UInt8, fabricID: UInt64, nodeID: UInt64, vendor: UInt16, label: String, sessions: Int) {
            (self.index, self.fabricID, self.nodeID) = (index, fabricID, nodeID)
            (self.vendor, self.label, self.sessions) = (vendor, label, sessions)
        }
    }

    /// The text of the QR code, beginning with MT:.
    public var setupPayload: String
    /// The manual pairing code, 11 digits.
    public var manualCode: String
    /// The remaining time of the commissioning window in whole seconds, or nil while it is closed.
    public var windowOpenFor: Duration?
    /// True if a controller opened the window with its own code. The setup codes of this report are then not accepted.
    public var isEnhanced: Bool
    /// The fabrics, at most ``PlugWire/matterFabrics``.
    public var fabrics: [Fabric]

    /// Creates a report.
    public init(
        setupPayload: String, manualCode: String, windowOpenFor: Duration?, isEnhanced: Bool, fabrics: [Fabric]
    ) {
        (self.setupPayload, self.manualCode) = (setupPayload, manualCode)
        (self.windowOpenFor, self.isEnhanced, self.fabrics) = (windowOpenFor, isEnhanced, fabrics)
    }
}
