internal import DequeModule
public import PlugModel
public import ProtocolCore

/// The plug's event journal: a bounded ring of events with rising sequence numbers. The numbers are consecutive, except
/// after the plug's storage failed.
///
/// Subscribers are cursors into the journal and use no memory in it. Numbers never repeat: before any number is used, a
/// higher boundary is reserved in flash, and a new journal starts at that boundary.
public struct EventJournal: Sendable {
    /// The capacity of the ring. The oldest event is evicted first. Both limits keep a rapidly toggling button or relay
    /// from exhausting the plug's memory.
    public struct Limits: Hashable, Sendable {
        /// The maximum number of events.
        public var events: Int
        /// The maximum memory in bytes, estimated per event.
        public var bytes: Int

        /// Creates limits. Both must be positive.
        public init(events: Int = 4096, bytes: Int = 1 << 20) {
            precondition(events > 0 && bytes > 0, "a journal stores at least one event")
            self.events = events
            self.bytes = bytes
        }
    }

    /// The result of resuming a subscription.
    public enum Resumption: Hashable, Sendable {
        /// All events after the cursor are available.
        case resumed
        /// The events in the gap are lost. The subscription continues after it.
        case gap(Gap)
    }

    /// The capacity of the ring.
    public let limits: Limits
    /// The number that the next event gets.
    public private(set) var nextSequence: SequenceNumber
    /// The oldest available number, or ``nextSequence`` if the ring is empty.
    public private(set) var oldestSequence: SequenceNumber
    /// The first number of this journal.
    public let origin: SequenceNumber
    /// The reason why events before ``origin`` are missing.
    public let lossBeforeOrigin: Gap.Reason
    /// The last range of numbers that the journal skipped, if any. It may be before, between or after the events in the
    /// ring.
    public private(set) var leap: Gap?
    private var ring: Deque<PlugEvent> = []
    private var bytes = 0

    /// Creates an empty journal.
    ///
    /// - Parameters:
    ///   - nextSequence: the reserved boundary, or the exact next number after an orderly stop. At least 1.
    ///   - reason: the reason why events before the origin cannot be read.
    ///   - origin: the first number of this journal, or nil if it is `nextSequence`. Events from `origin` up to
    ///     `nextSequence` count as overwritten.
    ///   - limits: the capacity of the ring.
    public init(
        nextSequence: SequenceNumber = 1, lossBefore reason: Gap.Reason = .powerLost, origin: SequenceNumber? = nil,
        limits: Limits = Limits()
    ) {
        precondition(nextSequence > 0, "sequence numbers start at 1")
        precondition(origin.map { $0 <= nextSequence } ?? true, "the origin is not after the next number")
        self.nextSequence = nextSequence
        self.limits = limits
        self.origin = origin ?? nextSequence
        oldestSequence = nextSequence
        lossBeforeOrigin = reason
    }

    /// The number of events in the ring.
    public var count: Int { ring.count }

    /// Appends an event with the next number and returns it.
    @discardableResult
    public mutating func append(_ kind: PlugEvent.Kind, time: Instant, boot: BootID) -> PlugEvent {
        let event = PlugEvent(sequence: nextSequence, boot: boot, time: time, kind: kind)
        keep(event)
        return event
    }

    /// Restores an event of a previous run. Returns false and changes nothing if its number is not the next one.
    public mutating func restore(_ event: PlugEvent) -> Bool {
        guard event.sequence == nextSequence else { return false }
        keep(event)
        return true
    }

    /// Continues at a higher number. The numbers in between stay unused, and a subscriber that reads past them receives
    /// a gap.
    public mutating func leap(to next: SequenceNumber, reason: Gap.Reason) {
        precondition(next > nextSequence, "a jump increases the next number")
        var from = nextSequence
        if let leap {
            // Only one jump is stored, which keeps the lookup simple. Events before an earlier jump are dropped.
            while oldestSequence < leap.from { dropOldest() }
            if leap.to + 1 == from { from = leap.from }
        }
        leap = Gap(from: from, to: next - 1, reason: reason)
        nextSequence = next
        if ring.isEmpty { oldestSequence = next }
    }

    /// The event with this number, or nil if the ring does not contain it.
    public subscript(sequence: SequenceNumber) -> PlugEvent? {
        place(of: sequence).map { ring[$0] }
    }

    /// Returns at most `limit` events after `cursor`, oldest first. Skips lost events; call ``resume(after:)`` first to
    /// detect them.
    public func read(after cursor: SequenceNumber, limit: Int) -> [PlugEvent] {
        guard cursor < nextSequence - 1 else { return [] }
        var first = max(cursor + 1, oldestSequence)
        if let leap, leap.contains(first) { first = leap.to + 1 }
        guard let start = place(of: first) else { return [] }
        return Array(ring[start..<start + min(limit, ring.count - start)])
    }

    /// Returns the result for a subscriber whose last event is `cursor`, which is 0 for a subscriber without events.
    public func resume(after cursor: SequenceNumber) -> Resumption {
        guard cursor < nextSequence else {
            return .gap(Gap(from: 1, to: nextSequence - 1, reason: .unknownCursor))
        }
        let wanted = cursor + 1
        if wanted < oldestSequence {
            return .gap(Gap(from: wanted, to: oldestSequence - 1, reason: reasonForLoss(of: wanted)))
        }
        guard let leap, leap.contains(wanted) else { return .resumed }
        return .gap(Gap(from: wanted, to: leap.to, reason: leap.reason))
    }

    private func reasonForLoss(of sequence: SequenceNumber) -> Gap.Reason {
        if let leap, leap.contains(sequence) { return leap.reason }
        return sequence < origin ? lossBeforeOrigin : .overwritten
    }

    private func place(of sequence: SequenceNumber) -> Int? {
        guard sequence >= oldestSequence, sequence < nextSequence else { return nil }
        guard let leap, leap.from > oldestSequence, sequence >= leap.from else { return Int(sequence - oldestSequence) }
        guard sequence > leap.to else { return nil }
        return Int(leap.from - oldestSequence + (sequence - leap.to - 1))
    }

    private mutating func keep(_ event: PlugEvent) {
        if ring.isEmpty { oldestSequence = event.sequence }
        nextSequence = event.sequence + 1
        ring.append(event)
        bytes += event.footprint
        while ring.count > limits.events || bytes > limits.bytes, ring.count > 1 { dropOldest() }
    }

    private mutating func dropOldest() {
        bytes -= ring.removeFirst().footprint
        oldestSequence = ring.first?.sequence ?? nextSequence
    }
}

extension Gap {
    fileprivate func contains(_ sequence: SequenceNumber) -> Bool { sequence >= from && sequence <= to }
}

extension PlugEvent {
    /// The approximate memory use of the event in bytes, including its strings and arrays.
    var footprint: Int {
        switch kind {
        case .relayChanged(_, cause: .controller(let name, _, _)),
            .protectionReset(_, cause: .controller(let name, _, _)):
            MemoryLayout<PlugEvent>.stride + name.utf8.count + 48
        case .controllerPaired(let name), .controllerRemoved(let name):
            MemoryLayout<PlugEvent>.stride + name.utf8.count
        case .relayChanged, .buttonPressed, .protectionTripped, .protectionReset, .restarted, .pairingFailed:
            MemoryLayout<PlugEvent>.stride
        }
    }
}
