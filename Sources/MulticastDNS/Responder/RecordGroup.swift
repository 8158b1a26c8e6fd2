public import DNSWire

/// Identifies a group of records between the responder and its owner.
public struct GroupID: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number of the group, chosen by the owner.
    public let rawValue: UInt64
    /// Creates an id from the owner's number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: GroupID, right: GroupID) -> Bool { left.rawValue < right.rawValue }
}

/// Records that are claimed, announced and withdrawn together because they depend on one unique name.
public struct RecordGroup: Hashable, Sendable {
    /// The name to probe for.
    public var name: Name
    /// The unique records of ``name``, without addresses. The initializer sets their cache-flush bit.
    public var unique: [Record]
    /// Shared records under other names. They are announced, and withdrawn with a goodbye.
    public var shared: [Record]
    /// Shared records that many hosts have in common (service type enumeration). They are only sent as answers, since a
    /// goodbye would make all other hosts send theirs.
    public var answeredOnly: [Record]
    /// True if ``name`` also has address records. Each packet contains the addresses that its interface publishes.
    public var publishesAddresses: Bool
    /// The group that owns the host name in these records, or nil if they contain none. This group is announced only
    /// after the name of the required group is claimed.
    public var requires: GroupID?
    /// The OPT record (RFC 6891) that each packet with records of this group contains, or nil. A sleep proxy names the
    /// sleeping host in it.
    public var option: Record?
    /// The interface on which the group is published; nil means every interface.
    public var interface: InterfaceID?

    /// Creates a group. The cache-flush bit of the unique records is set.
    public init(
        name: Name, unique: [Record] = [], shared: [Record] = [], answeredOnly: [Record] = [],
        publishesAddresses: Bool = false, requires: GroupID? = nil, option: Record? = nil,
        interface: InterfaceID? = nil
    ) {
        self.name = name
        self.unique = unique.map {
            var record = $0
            record.isCacheFlush = true
            return record
        }
        self.shared = shared
        self.answeredOnly = answeredOnly
        self.publishesAddresses = publishesAddresses
        self.requires = requires
        self.option = option
        self.interface = interface
    }

    /// Returns true if the group is published on the interface.
    func isPublished(on id: InterfaceID) -> Bool { interface == nil || interface == id }

    /// Returns the unique records for one interface.
    func unique(on network: NetworkInterface) -> [Record] {
        publishesAddresses ? unique + addressRecords(network.published) : unique
    }

    func addressRecords(_ addresses: [IPAddress]) -> [Record] {
        addresses.map {
            Record(name: name, isCacheFlush: true, timeToLive: RFC6762.hostTimeToLive, data: RecordData($0))
        }
    }

    /// Returns the negative answer: an NSEC record with the types of the group's unique records, which are the only
    /// types of the name (RFC 6762 §6.1).
    func negative(on network: NetworkInterface) -> Record {
        let unique = unique(on: network)
        let timeToLive = unique.map(\.timeToLive).min() ?? RFC6762.hostTimeToLive
        return Record(
            name: name, isCacheFlush: true, timeToLive: timeToLive,
            data: .nsec(next: name, types: Set(unique.map(\.type)).sorted()))
    }

    /// Returns the slots to announce: the unique records by type in their given order, then the shared ones.
    func announcedSlots(on network: NetworkInterface) -> [Answer.Slot] {
        var seen: Set<RecordType> = []
        return unique(on: network).map(\.type).filter { seen.insert($0).inserted }.map { .unique($0) }
            + shared.indices.map { .shared($0) }
    }

    /// The names under which this group answers, without duplicates.
    var ownerNames: [Name] {
        var seen: Set<Name> = []
        return ([name] + (shared + answeredOnly).map(\.name)).filter { seen.insert($0).inserted }
    }

    /// Returns the records of an answer on one interface. The list is empty if the slot no longer exists, because the
    /// group changed after the answer was chosen.
    func records(_ slot: Answer.Slot, on network: NetworkInterface) -> [Record] {
        switch slot {
        case .unique(let type):
            return unique(on: network).filter { $0.type == type }
        case .shared(let index):
            return shared.indices.contains(index) ? [shared[index]] : []
        case .answeredOnly(let index):
            return answeredOnly.indices.contains(index) ? [answeredOnly[index]] : []
        case .negative:
            return [negative(on: network)]
        }
    }

    /// Returns this host's record that equals the given one, with its slot, or nil if no record is equal.
    func slot(of record: Record, on network: NetworkInterface) -> (Answer.Slot, Record)? {
        if record.name == name {
            return unique(on: network).first { $0.hasSameContent(as: record) }.map { (.unique($0.type), $0) }
        }
        if let index = shared.firstIndex(where: { $0.hasSameContent(as: record) }) {
            return (.shared(index), shared[index])
        }
        return answeredOnly.firstIndex { $0.hasSameContent(as: record) }.map { (.answeredOnly($0), answeredOnly[$0]) }
    }
}

/// An answer that is sent as a whole: a unique record set, one shared record, or the negative answer.
struct Answer: Hashable, Comparable {
    enum Slot: Hashable, Comparable {
        case unique(RecordType)
        case shared(Int)
        case answeredOnly(Int)
        case negative
    }

    let group: GroupID
    let slot: Slot

    /// True if no other host may give this answer, so that it needs no random delay.
    var isUnique: Bool {
        switch slot {
        case .unique, .negative: true
        case .shared, .answeredOnly: false
        }
    }

    static func < (left: Answer, right: Answer) -> Bool {
        (left.group, left.slot) < (right.group, right.slot)
    }
}
