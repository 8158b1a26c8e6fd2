public import Automation
public import Daemon
import LinuxClocks
import NIOCore
public import PlugClient
import PlugModel
public import PowerHistory
import Presentation
import ProtocolCore

/// The house as it is now, and who watches it: the shell of ``HouseBoard`` and ``NewsRing``.
public actor LiveBoard: HouseAudience {
    /// Readings that come so shortly after each other are told together.
    private static let gathering = Duration.milliseconds(200)

    nonisolated let requests = RequestCounts()
    nonisolated let start = WallTime.now
    nonisolated let epoch = StreamPosition.newEpoch()
    private nonisolated let history: PowerHistory?
    private nonisolated let paired: PairedPlugs
    private(set) var board: HouseBoard
    private(set) var ring = NewsRing()
    var readers = StreamReaders()
    var heartbeat: Task<Void, Never>?
    var nextReader: UInt64 = 0
    var hasEnded = false
    /// The whole house as it was after the message of that number, encoded once for all owners and once for all others who begin there.
    private var house: [Bool: (number: UInt64, message: ByteBuffer, at: Instant)] = [:]
    /// Readings, and how long ago something was, change without a message.
    private static let freshness = Duration.seconds(1)
    private var beginning: Task<Void, Never>?
    private(set) var hasBegun = false
    private enum News {
        case update(HouseFollower.Update)
        case note(RunnerRecord)
        case rules([Rule], disabled: Set<String>, faults: [RuleFileFault])
    }

    /// More than a house tells in the moment that a large history takes to open.
    private static let earlyLimit = 4096
    private var early: [News] = []
    private var isGathering = false
    /// Rules whose firings of before the history was asked for.
    private var asked: Set<String> = []
    private var isLearning = false
    private var learnsAgain = false
    /// Where the page is, as a browser wants it; nil where none is served.
    private(set) var address: String?
    /// Pairings on their way.
    private(set) var pairings = 0

    /// - Parameters:
    ///   - history: for reading; it says what was before.
    ///   - paired: says which plugs are to be shown although they are not there.
    public init(rules: [Rule], history: PowerHistory? = nil, paired: PairedPlugs = PairedPlugs()) {
        board = HouseBoard(rules: RuleBoard(rules))
        self.history = history
        self.paired = paired
    }

    public func take(_ update: HouseFollower.Update) async { await take(.update(update)) }
    public func note(_ record: RunnerRecord) async { await take(.note(record)) }
    public func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async {
        await take(.rules(rules, disabled: disabled, faults: faults))
    }

    /// What comes before all is read waits here, and not the house.
    private func take(_ news: News) async {
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
            publish(PlugInHand.during(update.source) { board.take(update) })
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

    /// The house as it is now.
    var record: HouseRecord {
        let now = WallTime.now
        var record = board.record(at: now.iso8601())
        record.dashboard = address
        record.timeZone = HostZone.name(at: now)
        return record
    }

    /// - Parameter address: where the page is, as a browser wants it; nil where none is served.
    public func serve(at address: String?) {
        self.address = address
        house = [:]
    }

    private func publish(_ messages: [StreamMessage]) {
        guard !messages.isEmpty else { return }
        for message in messages {
            ring.append { number in
                let id = StreamPosition(epoch: epoch, number: number)
                let whole = message.encoded(id: id)
                let others = message.forOthers
                return NewsRing.Message(whole: whole, others: others == message ? whole : others?.encoded(id: id))
            }
        }
        readers.wakeAll()
    }

    /// The whole house, as a message that says where the stream goes on.
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

    // MARK: What was before

    /// Reads once what was known before this process.
    func begin() async {
        guard !hasBegun else { return }
        let task = beginning ?? Task { await readWhatWasKnown() }
        beginning = task
        await task.value
    }

    /// Whether that is done; it is begun here, and not awaited.
    func beginsSoon() -> Bool {
        if !hasBegun, beginning == nil { beginning = Task { await readWhatWasKnown() } }
        return hasBegun
    }

    private func readWhatWasKnown() async {
        let rules = board.rules.records.map(\.rule)
        asked = Set(rules)
        var known: KnownBefore?
        // It fails only where too many ask for the history at once.
        while known == nil, !hasEnded {
            known = try? await HistoryThreads.run { [history, paired] in
                KnownBefore(paired: paired, history: history, rules: rules, now: WallTime.now.milliseconds)
            }
            if known == nil { try? await Task.sleep(for: Self.gathering) }
        }
        hasBegun = true
        if let known {
            board.rules.begin(known.firings)
            publish(board.begin(paired: known.paired, told: known.cursors))
        }
        for news in early { hear(news) }
        early = []
    }

    /// Of rules that were not there before: the history may know them from earlier.
    private func learnLastFirings() {
        let names = Set(board.rules.records.map(\.rule))
        let new = names.subtracting(asked)
        asked = names
        guard let history, !new.isEmpty else { return }
        Task {
            var found: [FiringRecord]?
            // It fails only where too many ask for the history at once.
            while found == nil, !hasEnded {
                found = try? await HistoryThreads.run {
                    FiringRecord.last(of: new, in: history, now: WallTime.now.milliseconds)
                }
                if found == nil { try? await Task.sleep(for: Self.gathering) }
            }
            publish(board.rules.begin(found ?? []))
        }
    }

    /// Reads which plugs are paired: another program may have paired one, or forgotten it.
    private func learnPaired() {
        learnsAgain = true
        guard !isLearning else { return }
        isLearning = true
        Task {
            // What changed while it was read is read once more.
            while learnsAgain, !hasEnded {
                learnsAgain = false
                do {
                    let names = try await HistoryThreads.run { [paired] in try paired.names() }
                    publish(board.know(names))
                } catch is Fault {
                    // Too many ask for the history at once.
                    learnsAgain = true
                    try? await Task.sleep(for: Self.gathering)
                } catch {
                    // A file that cannot be read is not one that says that no plug is paired.
                }
            }
            isLearning = false
        }
    }

    // MARK: Pairing

    /// One at a time: each keeps a plug busy, and nobody has more than two hands.
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

/// What was known before this process.
private struct KnownBefore: Sendable {
    var paired: [PlugID: String] = [:]
    var cursors: [PlugID: SequenceNumber] = [:]
    /// The last of each rule.
    var firings: [FiringRecord] = []

    /// What cannot be read is left out: it is said where somebody asks for it.
    init(paired plugs: PairedPlugs, history: PowerHistory?, rules: [String], now: Int64) {
        paired = (try? plugs.names()) ?? [:]
        guard let history else { return }
        let known = (try? history.plugs()) ?? []
        // It may have been renamed since it was paired.
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
    /// What cannot be read is left out.
    ///
    /// - Parameter now: milliseconds since 1970.
    static func last(of rules: Set<String>, in history: PowerHistory, now: Int64) -> [FiringRecord] {
        let plugs = (try? history.plugs()) ?? []
        let names = Dictionary(plugs.map { ($0.id, $0.title) }) { first, _ in first }
        var missing = rules
        var last: [FiringRecord] = []
        // In steps, since the last firing of most rules is near, and years of them are many.
        for days in [1, 30, 366] as [Int64] where !missing.isEmpty {
            let found = (try? history.firings(from: now - days * 86_400_000, to: now)) ?? []
            for firing in found.reversed() where missing.remove(firing.rule) != nil {
                last.append(FiringRecord(firing, names: names))
            }
        }
        return last
    }
}
