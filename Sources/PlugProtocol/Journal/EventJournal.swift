internal import DequeModule
public import PlugModel
public import ProtocolCore

/// The plug's memory of what happened: a bounded ring of events with rising sequence numbers, consecutive but for a leap.
///
/// Subscribers are cursors into it and cost nothing here. Numbers never repeat: whoever makes a journal starts it at a
/// boundary that was reserved in flash before any number below it was used.
public struct EventJournal: Sendable {
    /// What the ring holds at most; the oldest event goes first. Both bounds stop a chattering button or relay from
    /// taking the plug's memory.
    public struct Limits: Hashable, Sendable {
        public var events: Int
        /// Bytes, estimated from what an event keeps in memory.
        public var bytes: Int

        public init(events: Int = 4096, bytes: Int = 1 << 20) {
            precondition(events > 0 && bytes > 0, "a journal that holds nothing loses everything")
            self.events = events
            self.bytes = bytes
        }
    }

    /// What a subscriber that comes back gets.
    public enum Resumption: Hashable, Sendable {
        /// Everything after its cursor is here.
        case resumed
        /// Some of it is lost; it goes on after the gap.
        case gap(Gap)
    }

    public let limits: Limits
    /// The number of the next event.
    public private(set) var nextSequence: SequenceNumber
    /// The oldest number still here; ``nextSequence`` while the ring is empty.
    public private(set) var oldestSequence: SequenceNumber
    /// The first number of this journal's life, and why numbers before it are not here.
    public let origin: SequenceNumber
    public let lossBeforeOrigin: Gap.Reason
    /// Numbers inside the ring, or before it, that no event has: the journal leapt over them.
    public private(set) var leap: Gap?
    private var ring: Deque<PlugEvent> = []
    private var bytes = 0

    /// - Parameters:
    ///   - nextSequence: the reserved boundary, or the exact next number after an orderly stop; at least 1.
    ///   - lossBefore: why events before the origin cannot be read.
    ///   - origin: where the journal's life began, if that was before `nextSequence`: events in between were overwritten.
    public init(
        nextSequence: SequenceNumber = 1, lossBefore reason: Gap.Reason = .powerLost, origin: SequenceNumber? = nil,
        limits: Limits = Limits()
    ) {
        precondition(nextSequence > 0, "sequence numbers start at 1")
        precondition(origin.map { $0 <= nextSequence } ?? true, "a journal begins before it goes on")
        self.nextSequence = nextSequence
        self.limits = limits
        self.origin = origin ?? nextSequence
        oldestSequence = nextSequence
        lossBeforeOrigin = reason
    }

    public var count: Int { ring.count }

    @discardableResult
    public mutating func append(_ kind: PlugEvent.Kind, time: Instant, boot: BootID) -> PlugEvent {
        let event = PlugEvent(sequence: nextSequence, boot: boot, time: time, kind: kind)
        keep(event)
        return event
    }

    /// Puts back an event of the life before. Returns false, and changes nothing, where its number is not the next one.
    public mutating func restore(_ event: PlugEvent) -> Bool {
        guard event.sequence == nextSequence else { return false }
        keep(event)
        return true
    }

    /// Goes on at a number further ahead. Those in between stay unused, and whoever reads past them is told the gap.
    public mutating func leap(to next: SequenceNumber, reason: Gap.Reason) {
        precondition(next > nextSequence, "a leap goes ahead")
        var from = nextSequence
        if let leap {
            // One leap is kept, so that finding an event stays simple: what lies before an earlier one is let go.
            while oldestSequence < leap.from { dropOldest() }
            if leap.to + 1 == from { from = leap.from }
        }
        leap = Gap(from: from, to: next - 1, reason: reason)
        nextSequence = next
        if ring.isEmpty { oldestSequence = next }
    }

    /// The event of that number; nil where it is not here (any more, or yet, or at all).
    public subscript(sequence: SequenceNumber) -> PlugEvent? {
        place(of: sequence).map { ring[$0] }
    }

    /// The events after `cursor`, oldest first, at most `limit`. What was lost is skipped: ask ``resume(after:)`` first.
    public func read(after cursor: SequenceNumber, limit: Int) -> [PlugEvent] {
        guard cursor < nextSequence - 1 else { return [] }
        var first = max(cursor + 1, oldestSequence)
        if let leap, leap.contains(first) { first = leap.to + 1 }
        guard let start = place(of: first) else { return [] }
        return Array(ring[start..<start + min(limit, ring.count - start)])
    }

    /// What a subscriber gets that saw `cursor` last; 0 has seen nothing since the plug was made.
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
    /// Bytes that the event takes in memory, roughly: itself, and what its strings and arrays hold elsewhere.
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
