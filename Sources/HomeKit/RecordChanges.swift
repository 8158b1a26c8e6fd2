/// What is to be stored, one change after the other: nothing comes of a change before its records are in flash.
struct RecordChanges: Sendable {
    enum Change: Sendable {
        /// The shape of the accessories, of which the configuration number follows.
        case adopt(shape: [UInt8])
        /// Pair-setup has come to its end; the answer is M6.
        case admit(HomeKitSessionID, ControllerPairing, PairingMessage)
        /// The one that was admitted never heard of it.
        case withdraw(ControllerPairing)
        case add(HomeKitSessionID, ControllerPairing)
        case remove(HomeKitSessionID, [UInt8])
        /// Somebody at the accessory removes this controller; nil: all.
        case dismiss([UInt8]?)
    }

    /// Changes of sessions wait one for each session, since a session waits for its own. Stops those of a button that is pressed over and over.
    static let limit = 32

    /// The change that is being stored, and the records after it.
    private(set) var current: (Change, HomeKitRecords)?
    private var waiting: [Change] = []

    var isStoring: Bool { current != nil }

    mutating func begin(_ change: Change, _ records: HomeKitRecords) { current = (change, records) }

    /// False where there is no room.
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
