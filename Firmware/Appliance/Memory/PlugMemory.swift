public import Metering
public import PlugModel
public import PlugProtocol
public import ProtocolCore

/// An event that waits for its number.
public struct UnnumberedEvent: Hashable, Sendable {
    /// The kind of the event.
    public var kind: PlugEvent.Kind
    /// The time of the event, on the clock of its boot.
    public var time: Instant

    /// Creates an event without a number.
    public init(_ kind: PlugEvent.Kind, at time: Instant) {
        self.kind = kind
        self.time = time
    }
}

/// The state that must survive a restart of the firmware. The mirror has the full state; flash has the part that must
/// survive a loss of power.
public struct PlugMemory: Sendable {
    /// The limits on the memory of a plug.
    public struct Limits: Hashable, Sendable {
        /// The limits of the event journal.
        public var journal = EventJournal.Limits()
        /// The maximum number of bytes of all sealed chunks.
        public var samples = SampleStore.defaultByteLimit
        /// The number of event numbers that one write to flash reserves.
        public var reservation = ReservedNumbers.defaultSize

        /// Creates the default limits.
        public init() {}
    }

    /// The numbered events.
    public var journal: EventJournal
    /// Events that have no number yet, oldest first.
    public var unnumbered: [UnnumberedEvent] = []
    /// The outcomes of the last commands, oldest first.
    public var requests: [FinishedRequest] = []
    /// The recorded samples.
    public var samples: SampleStore
    /// The state and the timers of the appliance.
    public var appliance: ApplianceMemory
    /// The reserved event numbers.
    public var numbers: ReservedNumbers
    /// The last event that the MQTT broker has acknowledged or does not need, or nil if the plug never had a broker.
    public var brokerCursor: SequenceNumber?

    /// Creates a memory with the given parts. All other parts are empty.
    ///
    /// - Parameters:
    ///   - boundary: The boundary in flash, see ``ReservedNumbers``. Nil reserves `limits.reservation` numbers after
    ///     those of the journal.
    public init(
        journal: EventJournal? = nil, appliance: ApplianceMemory = ApplianceMemory(),
        reservedBelow boundary: SequenceNumber? = nil, limits: Limits = Limits()
    ) {
        let journal = journal ?? EventJournal(limits: limits.journal)
        self.journal = journal
        self.appliance = appliance
        samples = SampleStore(byteLimit: limits.samples)
        numbers = ReservedNumbers(
            below: boundary ?? journal.nextSequence + limits.reservation, next: journal.nextSequence,
            size: limits.reservation)
    }
}
