import DNSWire

/// The records of one subscription, with the changes that a server pushed.
struct PushedRecords: Sendable {
    private var entries: [RecordData: (number: Int, record: Record)] = [:]
    /// The number of records that were added so far.
    private var additions = 0
    /// The approximate memory of the records in bytes.
    private(set) var byteCount = 0

    var count: Int { entries.count }

    /// The records in the order in which they were added.
    var all: [Record] { entries.values.sorted { $0.number < $1.number }.map(\.record) }

    /// Adds a record, or replaces its time to live. Returns true if it is new.
    mutating func insert(_ record: Record) -> Bool {
        if let known = entries[record.data] {
            entries[record.data] = (known.number, record)
            return false
        }
        additions += 1
        entries[record.data] = (additions, record)
        byteCount += record.memorySize
        return true
    }

    /// Removes a record. Returns true if it was known.
    mutating func remove(_ data: RecordData) -> Bool {
        guard let known = entries.removeValue(forKey: data) else { return false }
        byteCount -= known.record.memorySize
        return true
    }

    /// Removes all records. Returns true if there were any.
    mutating func removeAll() -> Bool {
        let wasEmpty = entries.isEmpty
        entries = [:]
        byteCount = 0
        return !wasEmpty
    }
}
