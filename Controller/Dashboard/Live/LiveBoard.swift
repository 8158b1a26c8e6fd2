public import Daemon
import Effects
import LinuxSystem
public import NIOCore
public import NIOPosix
public import PlugClient
import PlugModel
public import PowerHistory
import Presentation
import ProtocolCore
public import RuleModel

/// Holds the current state of the house (``HouseBoard``), the newest messages (``EventStreamBuffer``) and the readers
/// of the stream.
public actor LiveBoard: HouseObserver {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Readings within this time are sent as one message.
    private static let gathering = Duration.milliseconds(200)

    nonisolated let requests = RequestCounts()
    nonisolated let start = WallTime.now
    nonisolated let epoch = StreamPosition.newEpoch()
    /// The maximum number of notifications that wait for ``notifications``. The newest are kept.
    private static let notificationLimit = 64
    /// The notifications of rules and of the budget, for one reader. They also are messages of the stream.
    nonisolated let notifications: AsyncStream<RuleNotification>
    private nonisolated let notification: AsyncStream<RuleNotification>.Continuation
    private nonisolated let executor: any SerialExecutor
    private nonisolated let history: PowerHistory?
    private nonisolated let paired: PairedPlugs
    private nonisolated let rooms: RoomStore?
    private nonisolated let order: OrderStore?
    private(set) var board: HouseBoard
    private(set) var ring = EventStreamBuffer()
    var readers = StreamReaders()
    var heartbeat: Task<Void, Never>?
    var nextReader: UInt64 = 0
    var hasEnded = false
    /// The message with the complete house, for owners (true) and for others (false), with the number of the last
    /// message it includes. Readers that begin at the same number within ``freshness`` get the same message.
    private var house: [Bool: (number: UInt64, message: ByteBuffer, at: Instant)] = [:]
    /// The maximum age of a stored house message. A new reading changes the house before the message with this reading
    /// gets a number, so the house can be newer than a stored message with the same number.
    private static let freshness = Duration.seconds(1)
    /// The time at which the last reader was closed, or of a later message with a reader; nil before the first one.
    var readAt: Instant?
    /// The time without a reader after which messages are no longer encoded. A page that was away for less time
    /// continues without the complete house.
    private static let memory = Duration.seconds(300)
    private var beginning: Task<Void, Never>?
    private(set) var hasBegun = false
    private enum News {
        case update(HouseFollower.Update)
        case note(RunnerRecord)
        case rules([Rule], disabled: Set<String>, faults: [RuleFileFault])
    }

    /// The maximum number of updates that wait for the history. A house sends fewer in the time that a large history
    /// needs to open.
    private static let earlyLimit = 4096
    private var early: [News] = []
    private var isGathering = false
    /// The rules whose earlier firings were already requested from the history.
    private var asked: Set<String> = []
    private var isLearning = false
    private var learnsAgain = false
    /// The URL of the page for browsers; nil while no page is served.
    private(set) var address: String?
    /// The number of pairings in progress.
    private(set) var pairings = 0

    /// Creates the board.
    ///
    /// - Parameters:
    ///   - rules: the first rules; ``rulesChanged(_:disabled:faults:)`` replaces them later.
    ///   - history: the source of earlier firings and events, read only.
    ///   - paired: lists the paired plugs, which are shown even if they are away.
    ///   - rooms: stores the rooms of plugs; nil for a board without rooms.
    ///   - order: stores the order of plugs; nil for a board that shows them by name.
    ///   - eventLoop: the event loop of the actor. On the one of the house, an update of a plug changes threads less often.
    public init(
        rules: [Rule], history: PowerHistory? = nil, paired: PairedPlugs = PairedPlugs(), rooms: RoomStore? = nil,
        order: OrderStore? = nil, on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
    ) {
        executor = eventLoop.executor
        (notifications, notification) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Self.notificationLimit))
        board = HouseBoard(rules: RuleBoard(rules))
        self.history = history
        self.paired = paired
        self.rooms = rooms
        self.order = order
    }

    /// Handles an update of a plug.
    public func handle(_ update: HouseFollower.Update) async { await handle(.update(update)) }
    /// Handles a notice of the rules.
    public func note(_ record: RunnerRecord) async {
        if let new = RuleNotification(record) { notification.yield(new) }
        await handle(.note(record))
    }
    /// Replaces the rules after a change of their files or switches.
    public func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async {
        await handle(.rules(rules, disabled: disabled, faults: faults))
    }

    /// Handles an update. Until the earlier state is read, up to ``earlyLimit`` updates are queued, so that the house
    /// is not blocked. The callers of further updates wait.
    private func handle(_ news: News) async {
        if !hasBegun, early.count < Self.earlyLimit {
            early.append(news)
            if beginning == nil { beginning = Task { await readWhatWasKnown() } }
            return
        }
        await begin()
        hear(news)
    }

    private func hear(_ news: News) {
        switch news {
        case .note(let record): publish(board.rules.note(record))
        case .rules(let rules, let disabled, let faults):
            publish(board.rules.replace(rules, disabled: disabled, faults: faults))
            learnLastFirings()
        case .update(let update):
            publish(CrashAttribution.during(update.source) { board.handle(update) })
            switch update {
            case .lost: learnPaired()
            case .report(let report): if case .connected = report.update { learnPaired() }
            case .found: break
            }
        }
        guard board.hasReadings, !isGathering else { return }
        isGathering = true
        Task {
            try? await Task.sleep(for: Self.gathering)
            isGathering = false
            if let readings = board.takeReadings() { publish([readings]) }
        }
    }

    /// The current state of the house.
    var record: HouseRecord {
        let now = WallTime.now
        var record = board.record(at: now.iso8601())
        record.dashboard = address
        record.timeZone = HostZone.name(at: now)
        return record
    }

    /// Sets the URL of the page.
    ///
    /// - Parameter address: the URL for browsers; nil while no page is served.
    public func serve(at address: String?) {
        self.address = address
        house = [:]
    }

    private func publish(_ messages: [StreamMessage]) {
        guard !messages.isEmpty else { return }
        let now = BootClock.now
        if readers.count > 0 { readAt = now }
        // Encoding takes a fifth of the processor time that an event takes in the daemon.
        guard let readAt, now - readAt < Self.memory else { return ring.skip(messages.count) }
        for message in messages {
            ring.append { number in
                let id = StreamPosition(epoch: epoch, number: number)
                let whole = message.encoded(id: id)
                let others = message.forOthers
                return EventStreamBuffer.Message(
                    whole: whole, others: others == message ? whole : others?.encoded(id: id))
            }
        }
        readers.wakeAll()
    }

    /// Returns the complete house as a message. Its id is the position where the stream continues.
    func houseMessage(forOwner isOwner: Bool) -> ByteBuffer {
        let now = BootClock.now
        if let house = house[isOwner], house.number == ring.newest, now - house.at < Self.freshness {
            return house.message
        }
        let record = isOwner ? record : record.forOthers
        let message = StreamMessage.house(record).encoded(id: StreamPosition(epoch: epoch, number: ring.newest))
        house[isOwner] = (ring.newest, message, now)
        return message
    }

    // MARK: Earlier state

    /// Waits until the state that earlier processes stored has been read. The first call starts the read.
    func begin() async {
        guard !hasBegun else { return }
        let task = beginning ?? Task { await readWhatWasKnown() }
        beginning = task
        await task.value
    }

    /// Starts reading the earlier state if needed, and returns true if it is already read. It does not wait.
    func beginsSoon() -> Bool {
        if !hasBegun, beginning == nil { beginning = Task { await readWhatWasKnown() } }
        return hasBegun
    }

    private func readWhatWasKnown() async {
        let rules = board.rules.records.map(\.rule)
        asked = Set(rules)
        var known: InitialState?
        // The read fails only when too many requests use the history at once.
        while known == nil, !hasEnded {
            known = try? await HistoryThreads.run { [history, paired, rooms, order] in
                InitialState(
                    paired: paired, rooms: rooms, order: order, history: history, rules: rules,
                    now: WallTime.now.milliseconds)
            }
            if known == nil { try? await Task.sleep(for: Self.gathering) }
        }
        hasBegun = true
        if let known {
            board.rules.begin(known.firings)
            publish(board.setRooms(known.rooms) + board.setOrder(known.order))
            publish(board.begin(paired: known.paired, reported: known.cursors))
        }
        for news in early { hear(news) }
        early = []
    }

    /// Reads the last firings of new rules: the history may have firings of an earlier rule with the same name.
    private func learnLastFirings() {
        let names = Set(board.rules.records.map(\.rule))
        let new = names.subtracting(asked)
        asked = names
        guard let history, !new.isEmpty else { return }
        Task {
            var found: [FiringRecord]?
            // The read fails only when too many requests use the history at once.
            while found == nil, !hasEnded {
                found = try? await HistoryThreads.run {
                    FiringRecord.last(of: new, in: history, now: WallTime.now.milliseconds)
                }
                if found == nil { try? await Task.sleep(for: Self.gathering) }
            }
            publish(board.rules.begin(found ?? []))
        }
    }

    /// Reads the list of paired plugs again: another program may have paired or forgotten a plug.
    func learnPaired() {
        learnsAgain = true
        guard !isLearning else { return }
        isLearning = true
        Task {
            // A call of `learnPaired()` during the read causes another read.
            while learnsAgain, !hasEnded {
                learnsAgain = false
                do {
                    let names = try await HistoryThreads.run { [paired] in try paired.names() }
                    publish(board.know(names))
                } catch is Fault {
                    // Too many requests use the history at once.
                    learnsAgain = true
                    try? await Task.sleep(for: Self.gathering)
                } catch {
                    // If the file cannot be read, the board keeps the previous list.
                }
            }
            isLearning = false
        }
    }

    /// Moves a plug to a room, and stores the rooms.
    ///
    /// - Parameter room: nil for no room.
    func assign(_ room: String?, to plug: PlugID) async throws {
        guard let rooms else { throw Fault.unavailable("the daemon has no directory for its state") }
        publish(board.setRooms(try await HistoryThreads.run { try rooms.assign(room, to: plug) }))
    }

    /// Arranges the plugs, and stores the order.
    func arrange(_ plugs: [PlugID]) async throws {
        guard let order else { throw Fault.unavailable("the daemon has no directory for its state") }
        try await HistoryThreads.run { try order.arrange(plugs) }
        publish(board.setOrder(plugs))
    }

    // MARK: Pairing

    /// Reserves the only place for a pairing; false if another pairing is in progress.
    func beginPairing() -> Bool {
        guard pairings == 0 else { return false }
        pairings += 1
        return true
    }

    func endPairing() {
        pairings -= 1
        learnPaired()
    }
}

/// The state that earlier processes stored.
private struct InitialState: Sendable {
    var paired: [PlugID: String] = [:]
    var rooms: [PlugID: String] = [:]
    var order: [PlugID] = []
    var cursors: [PlugID: SequenceNumber] = [:]
    /// The last firing of each rule.
    var firings: [FiringRecord] = []

    /// Reads the state. Parts that cannot be read are left out; the requests that need them report the fault.
    init(
        paired plugs: PairedPlugs, rooms store: RoomStore?, order: OrderStore?, history: PowerHistory?, rules: [String],
        now: Int64
    ) {
        paired = (try? plugs.names()) ?? [:]
        rooms = (try? store?.read()) ?? [:]
        self.order = (try? order?.read()) ?? []
        guard let history else { return }
        let known = (try? history.plugs()) ?? []
        // A plug may have been renamed after it was paired.
        for plug in known where paired[plug.id] != nil && !plug.name.isEmpty { paired[plug.id] = plug.name }
        cursors = (try? history.cursors()) ?? [:]
        firings = FiringRecord.last(of: Set(rules), in: history, now: now)
    }
}

extension FiringRecord {
    init(_ firing: StoredFiring, names: [PlugID: String]) {
        let at = WallTime(millisecondsSince1970: firing.at)
        self.init(at: at.iso8601(), rule: firing.rule, plug: firing.plug.flatMap { names[$0] }, why: firing.cause)
    }
    /// Returns the last firing of each rule within the last 366 days. Firings that cannot be read are left out.
    ///
    /// - Parameter now: milliseconds since 1970.
    static func last(of rules: Set<String>, in history: PowerHistory, now: Int64) -> [FiringRecord] {
        let plugs = (try? history.plugs()) ?? []
        let names = Dictionary(plugs.map { ($0.id, $0.title) }) { first, _ in first }
        var missing = rules
        var last: [FiringRecord] = []
        // The search uses growing time spans, because most rules fired recently, and a year has many firings.
        for days in [1, 30, 366] as [Int64] where !missing.isEmpty {
            let found = (try? history.firings(from: now - days * 86_400_000, to: now)) ?? []
            for firing in found.reversed() where missing.remove(firing.rule) != nil {
                last.append(FiringRecord(firing, names: names))
            }
        }
        return last
    }
}
