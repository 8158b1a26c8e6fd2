import PlugModel
import ProtocolCore

/// The binary form of the engine's memory, which is a part of the stored state of a house. Each list is stored as a
/// count and its entries, and an optional as a flag and its value. A firing's cause is stored in words, because its
/// trigger may belong to a removed rule.
extension EngineMemory {
    /// The maximum number of stored entries per list; further entries are not stored. Keeps the file small enough to be
    /// written often.
    static let maximumEntries = 2048
    /// The maximum number of stored firing times per rule. The last ones are stored.
    static let maximumInstants = 1024
}

extension MemoryWriter {
    mutating func put(_ memory: EngineMemory) {
        putEach(memory.fired.sorted { $0.key < $1.key }) { out, entry in
            out.put(entry.key)
            out.putEach(entry.value.suffix(EngineMemory.maximumInstants)) { $0.put($1) }
        }
        putEach(memory.dwells) { $0.put($1) }
        putEach(memory.runs) { $0.put($1) }
        putEach(memory.savedStates) { $0.put($1) }
        putEach(memory.energies) { $0.put($1) }
        putEach(memory.occurrences) { out, entry in
            out.put(entry.rule)
            out.put(entry.trigger)
            out.put(UInt64(bitPattern: entry.number))
        }
        putEach(memory.disabled.sorted()) { $0.put($1) }
        put(optional: memory.judgedUntil) { $0.put($1) }
    }

    private mutating func putEach<Entry>(_ entries: [Entry], _ body: (inout MemoryWriter, Entry) -> Void) {
        let stored = entries.prefix(EngineMemory.maximumEntries)
        put(UInt16(stored.count))
        for entry in stored { body(&self, entry) }
    }

    private mutating func putEach<Entry>(_ entries: ArraySlice<Entry>, _ body: (inout MemoryWriter, Entry) -> Void) {
        putEach(Array(entries), body)
    }

    private mutating func put(_ dwell: EngineMemory.Dwell) {
        put(dwell.rule)
        put(dwell.trigger)
        put(dwell.plug)
        put(optional: dwell.boot) { $0.put($1.bytes) }
        put(dwell.since)
        put(dwell.latest)
        put(dwell.value)
    }

    private mutating func put(_ run: EngineMemory.Run) {
        put(firing: run.firing)
        put(run.actions)
        put(UInt16(clamping: run.next))
        put(optional: run.until) { $0.put($1) }
    }

    private mutating func put(_ before: EngineMemory.Before) {
        put(before.plug)
        put(before.rule)
        put(before.firing.bytes)
        put(before.on)
        put(optional: before.level) { $0.put($1.permille) }
    }

    private mutating func put(_ mark: EngineMemory.EnergyMark) {
        put(mark.plug)
        put(UInt8(EnergyThreshold.Period.allCases.firstIndex(of: mark.period) ?? 0))
        put(UInt64(bitPattern: mark.number))
        put(mark.milliwattHours)
        putEach(mark.fired.sorted()) { $0.put($1) }
        putEach(mark.known.sorted()) { $0.put($1) }
    }
}
