import MatterSessions
import MatterWire

/// The way in which a subject of an access control entry is authenticated (Matter 9.10.5.2).
enum AuthenticationMode: UInt8, Hashable, Sendable {
    case pase = 1
    case `case` = 2
    case group = 3
}

/// Node ids, and the ids within node ids, that are subjects of access control (Matter 2.5.5).
enum SubjectID {
    /// The ids of operational nodes.
    static let operational: ClosedRange<UInt64> = 0x0000_0000_0000_0001...0xFFFF_FFEF_FFFF_FFFF

    /// Returns the CASE authenticated tag inside of a subject, or nil if the subject is not a valid tag.
    static func tag(_ subject: UInt64) -> UInt32? {
        guard subject >> 32 == 0xFFFF_FFFD else { return nil }
        let tag = UInt32(truncatingIfNeeded: subject)
        // The lower half is the version. Version 0 is not valid (Matter 6.6.2.1.2).
        return tag & 0xFFFF == 0 ? nil : tag
    }

    /// Returns true if the id can be a subject of an entry for CASE sessions.
    static func isCASESubject(_ subject: UInt64) -> Bool { operational.contains(subject) || tag(subject) != nil }
}

/// The part of a node that an access control entry applies to. At least one field is set.
struct AccessTarget: Hashable, Sendable {
    var cluster: UInt32?
    var endpoint: UInt16?
    var deviceType: UInt32?

    /// Reads a target of a written entry. Throws `constraintError` if it is not valid.
    init(_ value: TLVValue) throws(InteractionStatus) {
        cluster = try value.nullableField(0, UInt32.self)
        endpoint = try value.nullableField(1, UInt16.self, in: 0...0xFFFE)
        deviceType = try value.nullableField(2, UInt32.self)
        guard cluster != nil || endpoint != nil || deviceType != nil, endpoint == nil || deviceType == nil,
            cluster.map(Self.isClusterID) ?? true, deviceType.map(Self.isDeviceTypeID) ?? true
        else { throw InteractionStatus(.constraintError) }
    }

    var tlv: TLVValue {
        .fields((0, .number(orNull: cluster)), (1, .number(orNull: endpoint)), (2, .number(orNull: deviceType)))
    }

    func matches(cluster: UInt32, endpoint: UInt16, deviceTypes: [UInt32]) -> Bool {
        (self.cluster.map { $0 == cluster } ?? true) && (self.endpoint.map { $0 == endpoint } ?? true)
            && (deviceType.map(deviceTypes.contains) ?? true)
    }

    /// Standard ids are up to 0x7FFF; those of a vendor are from 0xFC00 to 0xFFFE (Matter 7.18.2.3).
    private static func isClusterID(_ id: UInt32) -> Bool {
        let (vendor, item) = (id >> 16, id & 0xFFFF)
        return vendor == 0 ? item <= 0x7FFF : vendor <= 0xFFF4 && (0xFC00...0xFFFE).contains(item)
    }

    private static func isDeviceTypeID(_ id: UInt32) -> Bool { id >> 16 <= 0xFFF4 && id & 0xFFFF <= 0xBFFF }
}

/// An entry of a fabric's access control list (Matter 9.10.5.6).
struct AccessControlEntry: Hashable, Sendable {
    /// The limits of a list. They bound the flash that an administrator can use; the specification requires at least
    /// 4 entries, 4 subjects and 3 targets.
    static let entryLimit = 4
    static let subjectLimit = 4
    static let targetLimit = 3

    let privilege: Privilege
    let mode: AuthenticationMode
    /// Node ids, tags, or group ids. An empty list matches every subject.
    let subjects: [UInt64]
    /// An empty list matches every endpoint and cluster.
    let targets: [AccessTarget]

    /// The entry that AddNOC creates for the administrator (Matter 11.18.6.8).
    init(administrator: UInt64) { (privilege, mode, subjects, targets) = (.administer, .case, [administrator], []) }

    /// Reads a written entry. Throws if it is not valid (Matter 9.10.5.6).
    init(_ value: TLVValue) throws(InteractionStatus) {
        guard case .structure = value else { throw InteractionStatus(.invalidDataType) }
        guard let privilege = Privilege(rawValue: try value.field(1, UInt8.self)),
            let mode = AuthenticationMode(rawValue: try value.field(2, UInt8.self)), mode != .pase,
            mode != .group || privilege != .administer
        else { throw InteractionStatus(.constraintError) }
        (self.privilege, self.mode) = (privilege, mode)
        let subjects = try Self.list(value[3], limit: Self.subjectLimit)
        self.subjects = subjects.compactMap(\.asUnsigned)
        guard self.subjects.count == subjects.count,
            self.subjects.allSatisfy(mode == .group ? { (1...0xFFFF).contains($0) } : SubjectID.isCASESubject)
        else { throw InteractionStatus(.constraintError) }
        var targets: [AccessTarget] = []
        for target in try Self.list(value[4], limit: Self.targetLimit) { targets.append(try AccessTarget(target)) }
        self.targets = targets
    }

    /// The members of a list that can be null.
    private static func list(_ value: TLVValue?, limit: Int) throws(InteractionStatus) -> [TLVValue] {
        guard let value, !value.isNull else { return [] }
        guard let elements = value.elements else { throw InteractionStatus(.constraintError) }
        guard elements.count <= limit else { throw InteractionStatus(.resourceExhausted) }
        return elements
    }

    /// The fields without the fabric index. All fields are fabric-sensitive.
    var members: [(UInt8, TLVValue?)] {
        [
            (1, .number(privilege.rawValue)), (2, .number(mode.rawValue)),
            (3, subjects.isEmpty ? .null : .numbers(subjects)),
            (4, targets.isEmpty ? .null : .array(targets.map(\.tlv))),
        ]
    }

    /// Returns true if the entry applies to the group.
    func matches(group: UInt16) -> Bool {
        mode == .group && (subjects.isEmpty || subjects.contains(UInt64(group)))
    }

    /// Returns true if the entry applies to the peer of a CASE session.
    func matches(_ peer: OperationalPeer) -> Bool {
        guard mode == .case else { return false }
        return subjects.isEmpty
            || subjects.contains { subject in
                guard let tag = SubjectID.tag(subject) else { return subject == peer.node }
                // The identifier must be equal, and the peer's version at least the entry's.
                return peer.tags.contains { $0 >> 16 == tag >> 16 && $0 & 0xFFFF >= tag & 0xFFFF }
            }
    }
}

extension [AccessControlEntry] {
    /// Returns the highest privilege that the entries for a subject grant, or nil if they grant none (Matter 6.6.6.2).
    func privilege(
        on endpoint: UInt16, deviceTypes: [UInt32], cluster: UInt32, where matches: (AccessControlEntry) -> Bool
    ) -> Privilege? {
        filter { entry in
            matches(entry)
                && (entry.targets.isEmpty
                    || entry.targets.contains {
                        $0.matches(cluster: cluster, endpoint: endpoint, deviceTypes: deviceTypes)
                    })
        }.map(\.privilege).max()
    }
}
