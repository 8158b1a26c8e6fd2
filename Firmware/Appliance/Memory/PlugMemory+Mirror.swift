import PlugModel
import Metering
import PlugProtocol

extension PlugMemory {
    /// The whole memory as records, in the order that ``restore(_:limits:)`` requires.
    public var records: [MirrorRecord] {
        var records = [
            MirrorRecord.journal(
                origin: journal.origin, lossBefore: journal.lossBeforeOrigin, next: journal.oldestSequence)
        ]
        var expected = journal.oldestSequence
        for event in journal.read(after: 0, limit: journal.count) {
            if event.sequence > expected { records.append(.leap(to: event.sequence)) }
            records.append(.event(event))
            expected = event.sequence + 1
        }
        if journal.nextSequence > expected { records.append(.leap(to: journal.nextSequence)) }
        records += unnumbered.map { .unnumbered($0) }
        records += requests.map { .request($0) }
        records += samples.sealed.map { .sealedChunk($0) }
        if let chunk = samples.openChunk { records.append(.openChunk(chunk)) }
        if let state = appliance.state { records.append(.state(state, appliance.timers)) }
        if let brokerCursor { records.append(.brokerTook(brokerCursor)) }
        return records
    }

    /// Applies a record. Returns false and changes nothing if the record does not follow from the previous ones.
    public mutating func restore(_ record: MirrorRecord, limits: Limits) -> Bool {
        switch record {
        case .begins: return false
        case .journal(let origin, let reason, let next):
            journal = EventJournal(nextSequence: next, lossBefore: reason, origin: origin, limits: limits.journal)
        case .event(let event): return restore(event)
        case .unnumbered(let event): unnumbered.append(event)
        case .leap(let next):
            guard next > journal.nextSequence else { return false }
            journal.leap(to: next, reason: .storageFailed)
        case .request(let finished): requests.append(finished)
        case .state(let state, let timers):
            appliance.state = state
            appliance.timers = timers
        case .sample(let sample, let energy):
            samples.append(sample)
            appliance.state?.milliwattHours = energy
        case .sealedChunk(let chunk): samples.restore(chunk)
        case .brokerTook(let sequence): brokerCursor = sequence
        case .openChunk(let chunk):
            guard let kept = try? chunk.samples() else { return false }
            for sample in kept { samples.append(sample) }
        }
        return true
    }

    /// Restores an event. If unnumbered events wait, the oldest one must match.
    private mutating func restore(_ event: PlugEvent) -> Bool {
        guard let oldest = unnumbered.first else { return journal.restore(event) }
        guard oldest == UnnumberedEvent(event.kind, at: event.time), journal.restore(event) else { return false }
        unnumbered.removeFirst()
        return true
    }
}
