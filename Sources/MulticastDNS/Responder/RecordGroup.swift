public import DNSWire

/// Names a group of records between the responder and its owner.
public struct GroupID: RawRepresentable, Hashable, Sendable, Comparable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: GroupID, right: GroupID) -> Bool { left.rawValue < right.rawValue }
}

/// Records that are claimed, announced and withdrawn together because they hang on one unique name.
public struct RecordGroup: Hashable, Sendable {
    /// The name that is probed for.
    public var name: Name
    /// The unique records of ``name``, without addresses; the responder sets their cache-flush bit.
    public var unique: [Record]
    /// Shared records, under other names: announced, and withdrawn with a goodbye.
    public var shared: [Record]
    /// Shared records that many hosts have alike (service type enumeration): only given as answers, since a goodbye for
    /// them would make all the others come to the rescue.
    public var answeredOnly: [Record]
    /// Adds to ``unique`` the addresses of whichever interface a packet leaves by.
    public var publishesAddresses: Bool
    /// The group that owns the host name these records point to. This group is announced only once that one is claimed.
    public var requires: GroupID?

    public init(
        name: Name, unique: [Record] = [], shared: [Record] = [], answeredOnly: [Record] = [],
        publishesAddresses: Bool = false, requires: GroupID? = nil
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
    }

    /// The unique records as they stand on one interface.
    func unique(on network: NetworkInterface) -> [Record] {
        publishesAddresses ? unique + addressRecords(network.published) : unique
    }

    func addressRecords(_ addresses: [IPAddress]) -> [Record] {
        addresses.map {
            Record(name: name, isCacheFlush: true, timeToLive: RFC6762.hostTimeToLive, data: RecordData($0))
        }
    }

    /// RFC 6762 §6.1: says that the name has no types but these.
    func negative(on network: NetworkInterface) -> Record {
        let unique = unique(on: network)
        let timeToLive = unique.map(\.timeToLive).min() ?? RFC6762.hostTimeToLive
        return Record(
            name: name, isCacheFlush: true, timeToLive: timeToLive,
            data: .nsec(next: name, types: Set(unique.map(\.type)).sorted()))
    }

    /// What is announced: the unique records in the order of their types as they were given, then the shared ones.
    func announcedSlots(on network: NetworkInterface) -> [Answer.Slot] {
        var seen: Set<RecordType> = []
        return unique(on: network).map(\.type).filter { seen.insert($0).inserted }.map { .unique($0) }
            + shared.indices.map { .shared($0) }
    }

    /// Every name under which this group answers, each once.
    var ownerNames: [Name] {
        var seen: Set<Name> = []
        return ([name] + (shared + answeredOnly).map(\.name)).filter { seen.insert($0).inserted }
    }

    /// The records that an answer stands for on one interface; none when the group has changed since.
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
}

/// What can be asked of a group and is sent as a whole: a unique record set, one shared record, or the negative answer.
struct Answer: Hashable, Comparable {
    enum Slot: Hashable, Comparable {
        case unique(RecordType)
        case shared(Int)
        case answeredOnly(Int)
        case negative
    }

    let group: GroupID
    let slot: Slot

    /// True when no other host may give this answer, so that it needs no random delay.
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
