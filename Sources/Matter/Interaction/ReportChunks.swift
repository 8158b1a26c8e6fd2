internal import MatterWire

/// Distributes reports over messages (Matter 8.4.3.3, 10.6.4.3.1).
struct ReportChunks {
    private let subscription: UInt32?
    /// The size of the reports that fit in a message.
    private let capacity: Int
    private var finished: [ReportData] = []
    private var current: ReportData
    private var free: Int

    /// - Parameter limit: the size of a message in bytes.
    init(subscription: UInt32?, limit: Int) {
        self.subscription = subscription
        current = ReportData(subscription: subscription)
        // The largest form of the message without reports: both arrays and both flags are present.
        let frame = ReportData(subscription: subscription, hasMore: true, suppressesResponse: true)
        capacity = max(0, limit - InteractionMessage.report(frame).encoded.count - Self.arrays)
        free = capacity
    }

    /// The size of two empty arrays with tags: their starts (2 bytes each) and ends.
    private static let arrays = 6

    /// Adds the report of an attribute. A list that does not fit in a message is added item by item: an empty list and
    /// then one report per item.
    mutating func add(_ report: AttributeReport) {
        let size = report.encodedCount
        guard size > capacity else { return append(report, size: size) }
        guard case .data(let data) = report, let items = data.value.elements, !data.path.isListAppend else {
            return refuse(report)
        }
        var part = data
        part.value = .array([])
        add(.data(part))
        part.path.isListAppend = true
        for item in items {
            part.value = item
            add(.data(part))
        }
    }

    private mutating func append(_ report: AttributeReport, size: Int) {
        makeRoom(for: size)
        current.attributes.append(report)
    }

    /// Replaces a value that no message can hold by a status.
    private mutating func refuse(_ report: AttributeReport) {
        guard case .data(let data) = report else { return }
        var path = data.path
        path.isListAppend = false
        let status = AttributeReport.status(path, InteractionStatus(.resourceExhausted))
        append(status, size: status.encodedCount)
    }

    /// Adds the report of an event. An event that no message can hold is omitted.
    mutating func add(_ report: EventReport) {
        let size = report.encodedCount
        guard size <= capacity else { return }
        makeRoom(for: size)
        current.events.append(report)
    }

    private mutating func makeRoom(for size: Int) {
        if size > free {
            finished.append(current)
            current = ReportData(subscription: subscription)
            free = capacity
        }
        free -= size
    }

    /// Returns at least one message. All but the last one announce more chunks. The last message of a read suppresses
    /// the response; subscribers confirm every message (Matter 8.5.3).
    func messages() -> [ReportData] {
        var messages = finished + [current]
        for index in messages.indices.dropLast() { messages[index].hasMore = true }
        messages[messages.count - 1].suppressesResponse = subscription == nil
        return messages
    }
}

/// The chunks of a report that are not sent yet.
struct PendingReport: Sendable {
    /// The subscription of the report, or nil for a read.
    var subscription: UInt32?
    private var chunks: ArraySlice<ReportData>

    init(subscription: UInt32?, _ chunks: [ReportData]) {
        (self.subscription, self.chunks) = (subscription, chunks[...])
    }

    /// True if all chunks are sent.
    var isComplete: Bool { chunks.isEmpty }

    /// Removes and returns the next chunk.
    mutating func next() -> ReportData? { chunks.popFirst() }
}
