import Crypto
import MatterSessions
import ProtocolCore

/// The fail-safe (Matter 11.10.7.2): while it is armed, a commissioner changes the node, and its expiry undoes the
/// changes. The value stores the data for undoing them; ``NodeState/expireFailSafe(now:)`` undoes them.
struct FailSafe: Sendable {
    /// The longest time for which a commissioner can keep the fail-safe armed in total (MaxCumulativeFailsafeSeconds).
    static let longestTotal = Duration.seconds(900)
    /// The recommended time of one ArmFailSafe (FailSafeExpiryLengthSeconds).
    static let usualLength = Duration.seconds(60)

    /// The change of the fabrics since the fail-safe was armed.
    enum FabricChange: Hashable, Sendable {
        /// AddNOC added this fabric.
        case added(UInt8)
        /// UpdateNOC replaced the credentials of this fabric.
        case updated(UInt8, previous: FabricCredentials)

        var fabric: UInt8 {
            switch self {
            case .added(let fabric), .updated(let fabric, _): fabric
            }
        }
    }

    /// The key pair of a certificate signing request.
    struct PendingKey: Sendable {
        let key: P256.Signing.PrivateKey
        let isForUpdate: Bool
    }

    /// The regulation before SetRegulatoryConfig.
    struct Regulation: Hashable, Sendable {
        var config: UInt8
        var location: String
    }

    /// The time of the expiry, or nil if the fail-safe is not armed.
    private(set) var deadline: Instant?
    /// The time after which the fail-safe cannot be extended.
    private var latest = Instant.zero
    /// The fabric that armed the fail-safe or that AddNOC added since; nil for a PASE session before AddNOC.
    private(set) var fabric: UInt8?
    /// True if the fail-safe was armed for a PASE session.
    private(set) var isForCommissioning = false
    /// True if the added fabric has an operational session, so that the PASE session is no longer needed.
    private(set) var hasOperationalSession = false
    private(set) var key: PendingKey?
    /// The root certificate of AddTrustedRootCertificate in TLV.
    private(set) var root: [UInt8]?
    private(set) var change: FabricChange?
    private(set) var previousRegulation: Regulation?

    var isArmed: Bool { deadline != nil }

    /// Arms the fail-safe or extends it.
    mutating func arm(_ length: Duration, fabric: UInt8?, isForCommissioning: Bool, now: Instant) {
        if deadline == nil {
            self = FailSafe()
            (latest, self.fabric, self.isForCommissioning) = (now + Self.longestTotal, fabric, isForCommissioning)
        }
        deadline = min(now + length, latest)
    }

    /// Disarms the fail-safe and forgets the changes.
    mutating func disarm() { self = FailSafe() }

    mutating func add(_ key: P256.Signing.PrivateKey, isForUpdate: Bool) {
        self.key = PendingKey(key: key, isForUpdate: isForUpdate)
    }

    mutating func add(root: [UInt8]) { self.root = root }

    /// Records a change of the fabrics, which consumes the key and the root certificate.
    mutating func record(_ change: FabricChange) {
        (self.change, key, root, fabric) = (change, nil, nil, change.fabric)
    }

    /// Records the regulation before its first change.
    mutating func record(previous regulation: Regulation) {
        if previousRegulation == nil { previousRegulation = regulation }
    }

    /// Records that a fabric has an operational session.
    mutating func sessionEstablished(fabric: UInt8) {
        if case .added(fabric) = change { hasOperationalSession = true }
    }
}

extension MatterRecords {
    /// The records without the changes that the expiry of the fail-safe would undo. Only these are stored, so that a
    /// restart undoes the changes as well.
    func undoing(_ failSafe: FailSafe) -> MatterRecords {
        var records = self
        if let regulation = failSafe.previousRegulation {
            (records.settings.regulatoryConfig, records.settings.location) = (regulation.config, regulation.location)
        }
        switch failSafe.change {
        case .added(let fabric): records.remove(fabric)
        case .updated(let fabric, let previous): records.restore(previous, of: fabric)
        case nil: break
        }
        return records
    }
}
