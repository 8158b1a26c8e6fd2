/// The queue of record changes. A change takes effect only after its records are in flash.
struct RecordChanges: Sendable {
    enum Change: Sendable {
        /// The shape of the accessories, which determines the configuration number.
        case adopt(shape: [UInt8])
        /// Pair-setup succeeded; the answer is M6.
        case admit(HomeKitSessionID, ControllerPairing, PairingMessage)
        /// The admitted controller did not receive its answer.
        case withdraw(ControllerPairing)
        case add(HomeKitSessionID, ControllerPairing)
        case remove(HomeKitSessionID, [UInt8])
        /// The user removed this controller at the accessory, or all controllers (nil).
        case dismiss([UInt8]?)
    }

    /// The limit of waiting changes. Each session has at most one waiting change, so only repeated removals at the
    /// accessory can reach the limit.
    static let limit = 32

    /// The change that is being stored, and the records after it.
    private(set) var current: (Change, HomeKitRecords)?
    private var waiting: [Change] = []

    var isStoring: Bool { current != nil }

    mutating func begin(_ change: Change, _ records: HomeKitRecords) { current = (change, records) }

    /// Queues a change. Returns false if the queue is full.
    mutating func wait(_ change: Change) -> Bool {
        guard waiting.count < Self.limit else { return false }
        waiting.append(change)
        return true
    }

    mutating func end() -> (Change, HomeKitRecords)? {
        defer { current = nil }
        return current
    }

    mutating func next() -> Change? { waiting.isEmpty ? nil : waiting.removeFirst() }
}
