internal import DequeModule
public import ProtocolCore

/// The plug's memory of what happened: a bounded ring of events with consecutive sequence numbers.
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
    /// The first number of this journal's life, and why numbers before it are not here.
    private let origin: SequenceNumber
    private let lossBeforeOrigin: Gap.Reason
    private var ring: Deque<PlugEvent> = []
    private var bytes = 0

    /// - Parameters:
    ///   - nextSequence: the reserved boundary, or the exact next number after an orderly stop; at least 1.
    ///   - lossBefore: why events before it cannot be read.
    public init(nextSequence: SequenceNumber = 1, lossBefore reason: Gap.Reason = .powerLost, limits: Limits = Limits())
    {
        precondition(nextSequence > 0, "sequence numbers start at 1")
        self.nextSequence = nextSequence
        self.limits = limits
        origin = nextSequence
        lossBeforeOrigin = reason
    }

    /// The oldest number still here; ``nextSequence`` while the ring is empty.
    public var oldestSequence: SequenceNumber { nextSequence - UInt64(ring.count) }
    public var count: Int { ring.count }

    @discardableResult
    public mutating func append(_ kind: PlugEvent.Kind, time: Instant, boot: BootID) -> PlugEvent {
        let event = PlugEvent(sequence: nextSequence, boot: boot, time: time, kind: kind)
        nextSequence += 1
        ring.append(event)
        bytes += event.footprint
        while ring.count > limits.events || bytes > limits.bytes, ring.count > 1 {
            bytes -= ring.removeFirst().footprint
        }
        return event
    }

    /// The event of that number; nil where it is not here (any more, or yet).
    public subscript(sequence: SequenceNumber) -> PlugEvent? {
        guard sequence >= oldestSequence, sequence < nextSequence else { return nil }
        return ring[Int(sequence - oldestSequence)]
    }

    /// The events after `cursor`, oldest first, at most `limit`. What was lost is skipped: ask ``resume(after:)`` first.
    public func read(after cursor: SequenceNumber, limit: Int) -> [PlugEvent] {
        guard cursor < nextSequence - 1 else { return [] }
        let first = max(cursor + 1, oldestSequence)
        let end = first + min(UInt64(limit), nextSequence - first)
        return (first..<end).map { ring[Int($0 - oldestSequence)] }
    }

    /// What a subscriber gets that saw `cursor` last; 0 has seen nothing since the plug was made.
    public func resume(after cursor: SequenceNumber) -> Resumption {
        guard cursor < nextSequence else {
            return .gap(Gap(from: 1, to: nextSequence - 1, reason: .unknownCursor))
        }
        guard cursor + 1 < oldestSequence else { return .resumed }
        return .gap(
            Gap(
                from: cursor + 1, to: oldestSequence - 1,
                reason: cursor + 1 < origin ? lossBeforeOrigin : .overwritten))
    }
}

extension PlugEvent {
    /// Bytes that the event takes in memory, roughly: itself, and what its strings and arrays hold elsewhere.
    var footprint: Int {
        switch kind {
        case .relayChanged(_, cause: .controller(let name, _)):
            MemoryLayout<PlugEvent>.stride + name.utf8.count + 48
        case .controllerPaired(let name), .controllerRemoved(let name):
            MemoryLayout<PlugEvent>.stride + name.utf8.count
        case .relayChanged, .buttonPressed, .protectionTripped, .restarted, .pairingFailed:
            MemoryLayout<PlugEvent>.stride
        }
    }
}
