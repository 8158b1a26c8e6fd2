public import Metering
public import PlugModel
public import PlugProtocol
public import ProtocolCore

/// An event that waits for its number.
public struct UnnumberedEvent: Hashable, Sendable {
    public var kind: PlugEvent.Kind
    public var time: Instant

    public init(_ kind: PlugEvent.Kind, at time: Instant) {
        self.kind = kind
        self.time = time
    }
}

/// What a plug knows that must outlive its firmware: the mirror has all of it, flash what a loss of power must not take.
public struct PlugMemory: Sendable {
    /// How much of each the plug keeps.
    public struct Limits: Hashable, Sendable {
        public var journal = EventJournal.Limits()
        /// Bytes of the sealed chunks together.
        public var samples = SampleStore.defaultByteLimit
        /// Event numbers reserved in flash at a time.
        public var reservation = ReservedNumbers.defaultSize

        public init() {}
    }

    public var journal: EventJournal
    /// What happened and has no number yet, oldest first.
    public var unnumbered: [UnnumberedEvent] = []
    /// How the last commands ended, oldest first.
    public var requests: [FinishedRequest] = []
    public var samples: SampleStore
    public var appliance: ApplianceMemory
    public var numbers: ReservedNumbers
    /// The plug's MQTT broker has every event up to this number, or need not have it; nil: it never had one.
    public var brokerCursor: SequenceNumber?

    /// A plug that remembers nothing, but for what it is given.
    ///
    /// - Parameters:
    ///   - boundary: see ``ReservedNumbers``; nil: a first reservation is in flash already.
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
