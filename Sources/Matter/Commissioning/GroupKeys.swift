import MatterWire

/// An epoch key of a group key set with its start time in microseconds (Matter 4.17.3.1).
struct EpochKey: Hashable, Sendable, CustomStringConvertible {
    static let length = 16

    let key: [UInt8]
    let start: UInt64

    /// Omits the key.
    var description: String { "epoch key from \(start)" }
}

/// A group key set (Matter 11.2.5.4).
struct GroupKeySet: Hashable, Sendable {
    /// The id of the set with the identity protection key, which CASE uses.
    static let identityProtection: UInt16 = 0
    /// The policy TrustFirst. CacheAndSync requires a feature that the plug does not have.
    static let trustFirst: UInt8 = 0
    /// The limit of sets per fabric, which bounds the flash that a fabric can use. The specification requires 3.
    static let limit = 4

    let id: UInt16
    /// One to three keys with ascending start times.
    let keys: [EpochKey]

    /// Creates the set of the identity protection key that AddNOC installs.
    init(identityProtectionKey key: [UInt8]) { (id, keys) = (Self.identityProtection, [EpochKey(key: key, start: 0)]) }

    /// Creates a set from stored keys. Returns nil if they are not valid.
    init?(id: UInt16, keys: [EpochKey]) {
        guard (1...3).contains(keys.count), keys.allSatisfy({ $0.key.count == EpochKey.length }) else { return nil }
        (self.id, self.keys) = (id, keys)
    }

    /// Reads the set of the command KeySetWrite. Throws if it is not valid (Matter 11.2.7.1).
    init(_ value: TLVValue) throws(InteractionStatus) {
        guard case .structure = value else { throw InteractionStatus(.invalidCommand) }
        id = try value.field(0, UInt16.self)
        let policy = try value.field(1, UInt8.self, in: 0...1)
        guard policy == Self.trustFirst else { throw InteractionStatus(.invalidCommand) }
        var keys: [EpochKey] = []
        for (position, tag) in [UInt8(2), 4, 6].enumerated() {
            let key = value[tag].flatMap { $0.isNull ? nil : $0 }
            let start = try value.nullableField(tag + 1, UInt64.self)
            guard let key, let start else {
                // Key and start time are both given or both null. The first key is required.
                guard key == nil, start == nil, position > 0 else { throw InteractionStatus(.invalidCommand) }
                continue
            }
            guard let bytes = key.asBytes else { throw InteractionStatus(.invalidCommand) }
            guard bytes.count == EpochKey.length else { throw InteractionStatus(.constraintError) }
            // No gap between the keys, and ascending start times. A start time of 0 is reserved for AddNOC.
            guard start > 0, keys.count == position, keys.last.map({ start > $0.start }) ?? true else {
                throw InteractionStatus(.invalidCommand)
            }
            keys.append(EpochKey(key: bytes, start: start))
        }
        self.keys = keys
    }

    /// The set for KeySetReadResponse, which contains no key.
    var publicTLV: TLVValue {
        var members: [(UInt8, TLVValue?)] = [(0, .number(id)), (1, .number(Self.trustFirst))]
        for position in 0..<3 {
            let tag = UInt8(2 + 2 * position)
            members.append((tag, .null))
            members.append((tag + 1, position < keys.count ? .number(keys[position].start) : .null))
        }
        return .members(members)
    }
}

/// An assignment of a group to a group key set (Matter 11.2.5.3).
struct GroupKeyMapping: Hashable, Sendable {
    let group: UInt16
    let keySet: UInt16

    init?(group: UInt16, keySet: UInt16) {
        guard group > 0, keySet != GroupKeySet.identityProtection else { return nil }
        (self.group, self.keySet) = (group, keySet)
    }

    /// Reads a written item. Throws if it is not valid.
    init(_ value: TLVValue) throws(InteractionStatus) {
        guard case .structure = value else { throw InteractionStatus(.invalidDataType) }
        guard
            let mapping = GroupKeyMapping(
                group: try value.field(1, UInt16.self), keySet: try value.field(2, UInt16.self))
        else { throw InteractionStatus(.constraintError) }
        self = mapping
    }

    var members: [(UInt8, TLVValue?)] { [(1, .number(group)), (2, .number(keySet))] }
}

/// A group of a fabric with its endpoints (Matter 11.2.5.5).
struct GroupMembership: Hashable, Sendable {
    /// The limit of groups per fabric, which bounds the flash that a fabric can use. The specification requires 4.
    static let limit = 12
    /// The length limit of a name in bytes.
    static let nameLimit = 16

    let group: UInt16
    var name: String
    var endpoints: [UInt16]
}
