import DNSWire

/// The comparison of proposed records (RFC 6762 §8.2.1).
enum Tiebreak {
    /// Returns true if the other host's records are later in the order of class, type and data, so that this host
    /// loses. Equal sets are not a conflict.
    static func isLost(ours: [Record], theirs: [Record]) -> Bool {
        let (ours, theirs) = (sorted(ours), sorted(theirs))
        for (our, their) in zip(ours, theirs) {
            if our.lexicographicallyPrecedes(their) { return true }
            if their.lexicographicallyPrecedes(our) { return false }
        }
        return ours.count < theirs.count
    }

    /// Returns the class (without the cache-flush bit), the type and the data of each record as bytes, in ascending
    /// order. The fixed-width fields come first, so that a byte comparison compares field by field.
    private static func sorted(_ records: [Record]) -> [[UInt8]] {
        records.map { record -> [UInt8] in
            let fields = [record.recordClass.rawValue, record.type.rawValue]
            return fields.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + record.data.uncompressedBytes
        }.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
