/// The id of a bundle: the first 16 bytes of its SHA-256.
public struct BundleID: Hashable, Sendable {
    /// The 16 bytes.
    public let bytes: [UInt8]

    /// Returns nil unless there are 16 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

/// A request of an owner about the updates of the plug's system.
public enum UpdateRequest: Hashable, Sendable {
    /// Report the state without changing it.
    case ask
    /// Receive a bundle of `size` bytes, from 1 to ``PlugWire/largestBundle``. If a part of this bundle was received
    /// before, ``UpdateReport/Phase/receiving(_:of:)`` has the offset at which to continue.
    ///
    /// - Parameter allowsOlder: true to accept a system that is older than the plug's.
    case begin(BundleID, size: UInt64, allowsOlder: Bool)
    /// Write these 1 to ``PlugWire/largestBundlePart`` bytes at this offset of the bundle.
    case part(offset: UInt64, [UInt8])
    /// Restart with the installed system, at once or when the relay is off.
    case restart(whenOff: Bool)
    /// Delete the bundle that was received in part, and do not restart when the relay is off.
    case cancel
}

/// The state of an update of the plug's system, as reported to an owner.
public struct UpdateReport: Hashable, Sendable {
    /// The progress of an update.
    public enum Phase: Hashable, Sendable {
        /// No update is in progress.
        case idle
        /// The plug has this many bytes of the bundle.
        case receiving(UInt64, of: UInt64)
        /// The plug verifies and installs the bundle; from 0 to 100 percent are done.
        case installing(percent: Int)
        /// The new system starts with the next restart.
        case installed
        /// The new system runs, and has to prove that the plug works.
        case trying
        /// The new system did not work, for this reason. The previous system runs again.
        case returned(String)
        /// The bundle was not installed, for this reason.
        case failed(String)
        /// A phase that this version does not know.
        case unknown
    }

    /// The board of the bundles that the plug accepts, such as smartplug-arm64; empty if it is not known.
    public var board: String
    /// The version of the running system; empty if it is not known.
    public var system: String
    /// The version of the system in the bundle; empty before it is known.
    public var newSystem: String
    /// The progress.
    public var phase: Phase
    /// True while a restart waits until the relay is off.
    public var restartsWhenOff: Bool

    /// Creates a report.
    public init(
        board: String = "", system: String = "", newSystem: String = "", phase: Phase, restartsWhenOff: Bool = false
    ) {
        (self.board, self.system, self.newSystem) = (board, system, newSystem)
        (self.phase, self.restartsWhenOff) = (phase, restartsWhenOff)
    }
}
