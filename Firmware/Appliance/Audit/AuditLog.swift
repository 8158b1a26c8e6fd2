public import PlugModel
import ProtocolCore

/// The audit log: who changed or tried to change the plug's settings and access rights. Limits its entries and
/// schedules their writes to flash.
///
/// Entries of completed actions are written at once. Refusals, new keys of controllers and changes of reachability are
/// written at most once per ``refusalSpacing``, or together with a completed action. All together cause at most ``writes`` per hour. Entries
/// about changes of the paired controllers or of the setup code have ``reservedWrites`` in addition, so that other
/// entries cannot delay them. A write appends to the file. The whole file is rewritten when about two hundred of its
/// lines are out of date, so it has at most 1,500 lines.
public struct AuditLog: Sendable {
    /// The maximum number of entries of completed actions. Above it, the oldest one is removed; see ``settingsShare``.
    public static let doneLimit = 1000
    /// The number of entries about settings, firmware and new keys above which they are removed before entries about
    /// access rights. So a controller that may only change settings or its key cannot displace the entry of a pairing.
    public static let settingsShare = 500
    /// The maximum number of refusals. They have their own limit, so that refused requests cannot displace other
    /// entries.
    public static let refusalLimit = 200
    /// The maximum number of entries about reachability. They have their own limit, so that a router that often changes
    /// its address cannot displace other entries.
    public static let reachabilityLimit = 100
    /// The time after a refusal, a new key or a change of reachability during which repetitions by the same actor are counted in the same entry.
    static let refusalSpan = Duration.seconds(3600)
    /// The minimum time between two writes that only refusals, new keys or changes of reachability cause.
    static let refusalSpacing = Duration.seconds(900)
    /// The maximum number of writes per hour.
    static let writes = 30
    /// Additional writes per hour for entries about changes of the paired controllers or of the setup code.
    static let reservedWrites = 30
    static let writeWindow = Duration.seconds(3600)
    /// The time between a failed write and the next attempt.
    static let retry = Duration.seconds(300)
    /// The number of surplus lines in the file that causes a rewrite.
    static let slack = 200

    /// A write to flash.
    public struct Write: Hashable, Sendable {
        /// The entries to write, by number.
        public var entries: [AuditEntry]
        /// True if the entries replace the whole file. Otherwise they are appended, and replace earlier entries with
        /// the same number.
        public var isWhole: Bool

        /// Creates a write.
        package init(entries: [AuditEntry], isWhole: Bool) {
            self.entries = entries
            self.isWhole = isWhole
        }
    }

    private enum Room { case rights, settings, refusals, reachability }

    private var rights: [AuditEntry] = []
    private var settings: [AuditEntry] = []
    private var refusals: [AuditEntry] = []
    private var reachability: [AuditEntry] = []
    private var nextNumber: UInt64 = 1
    /// The numbers of entries that flash lacks or has with an older count.
    private var unwritten: Set<UInt64> = []
    /// The write in progress.
    private var writing: (numbers: Set<UInt64>, lines: Int, isWhole: Bool)?
    /// The number of lines in the file, or nil if the file must be rewritten.
    private var lines: Int?
    /// When the unwritten entries must be written.
    private var dueAt: Instant?
    private var lastWrites: [Instant] = []
    private var lastRefusal: Instant?
    /// True if an unwritten entry is about a change of the paired controllers or of the setup code.
    private var isUrgent = false
    private var retryAt: Instant?
    private let remark: String?
    private let resetBy: AuditActor?

    /// Creates a log from the entries of the file.
    /// - Parameters:
    ///   - entries: The entries in the order of the file. If several have the same number, the last one counts.
    ///   - lines: The number of lines in the file if entries can be appended, or nil if it must be rewritten.
    ///   - remark: A description of unreadable entries, or nil if all were readable.
    ///   - resetBy: The actor whose factory reset took effect at this start, or nil.
    public init(_ entries: [AuditEntry] = [], lines: Int? = nil, remark: String? = nil, resetBy: AuditActor? = nil) {
        self.lines = lines
        self.remark = remark
        self.resetBy = resetBy
        var newest: [UInt64: AuditEntry] = [:]
        for entry in entries { newest[entry.number] = entry }
        for entry in newest.values.sorted(by: { $0.number < $1.number }) { keep(entry) }
        nextNumber = (newest.keys.max() ?? 0) + 1
    }

    /// All entries, by ascending number.
    public var entries: [AuditEntry] { (rights + settings + refusals + reachability).sorted { $0.number < $1.number } }

    /// Records the events of this start: a factory reset, lost entries, a new firmware.
    mutating func begin(firmware: String, boot: BootID, now: Instant) {
        if let resetBy { record(AuditNote(.factoryReset, by: resetBy), boot: boot, now: now) }
        if let remark { record(AuditNote(.lost, by: .plug, remark), boot: boot, now: now) }
        let start = settings.last { $0.note.kind == .firmware && $0.note.actor == .plug }
        let before = start?.note.detail.split(separator: ",").first
        guard before.map(String.init) != firmware else { return }
        let detail = before.map { "\(firmware), before: \($0)" } ?? firmware
        record(AuditNote(.firmware, by: .plug, detail), boot: boot, now: now)
    }

    mutating func record(_ note: AuditNote, boot: BootID, now: Instant) {
        let isRoutine = Self.isRoutine(note)
        if isRoutine, let number = countAgain(note, boot: boot, now: now) {
            unwritten.insert(number)
        } else {
            // A plug does not reach this number within its life.
            guard nextNumber <= AuditEntry.highestNumber else { return }
            keep(AuditEntry(number: nextNumber, boot: boot, time: now, note))
            unwritten.insert(nextNumber)
            nextNumber += 1
        }
        let due = isRoutine ? max(now, lastRefusal.map { $0 + Self.refusalSpacing } ?? now) : now
        dueAt = sooner(dueAt, due)
        isUrgent = isUrgent || Self.isUrgent(note)
    }

    /// Returns a page of entries.
    /// - Parameters:
    ///   - number: Only entries with a higher number are returned.
    ///   - limit: The number of newest entries to choose from, or nil for all.
    func page(after number: UInt64, limit: Int?) -> AuditPage {
        let asked = entries.filter { $0.number > number }.suffix(limit ?? .max)
        return AuditPage(
            Array(asked.prefix(PlugWire.auditEntriesAtOnce)), isLast: asked.count <= PlugWire.auditEntriesAtOnce)
    }

    /// Counts a repetition. Returns the number of its entry; nil if the log has no such entry.
    private mutating func countAgain(_ note: AuditNote, boot: BootID, now: Instant) -> UInt64? {
        func index(in entries: [AuditEntry]) -> Int? { entries.lastIndex { $0.counts(note, boot: boot, now: now) } }
        return switch Self.room(of: note) {
        case .rights: nil
        case .settings: index(in: settings).map { settings[$0].countAgain(note) }
        case .refusals: index(in: refusals).map { refusals[$0].countAgain(note) }
        case .reachability: index(in: reachability).map { reachability[$0].countAgain(note) }
        }
    }

    // MARK: Room

    private static func room(of note: AuditNote) -> Room {
        guard !note.isRefused else { return .refusals }
        return switch note.kind {
        case .renamed, .configured, .firmware, .keyRotated: .settings
        case .refused, .pairingFailed: .refusals
        case .reachable, .unreachable: .reachability
        case .paired, .removed, .factoryReset, .roleChanged, .invited, .codeChanged, .lost, .unknown: .rights
        }
    }

    /// True for refusals and for key rotations by a controller, because a client can repeat them without limit, and for
    /// changes of reachability, because a router can. Their repetitions are counted in one entry, and they share writes.
    private static func isRoutine(_ note: AuditNote) -> Bool {
        if case .controller = note.actor, note.kind == .keyRotated { return true }
        return [.refusals, .reachability].contains(room(of: note))
    }

    private static func isUrgent(_ note: AuditNote) -> Bool {
        guard !note.isRefused else { return false }
        return switch note.kind {
        case .paired, .removed, .factoryReset, .roleChanged, .codeChanged: true
        case .renamed, .configured, .firmware, .keyRotated, .refused, .pairingFailed, .invited, .lost, .reachable,
            .unreachable, .unknown:
            false
        }
    }

    private mutating func keep(_ entry: AuditEntry) {
        switch Self.room(of: entry.note) {
        case .rights: rights.append(entry)
        case .settings: settings.append(entry)
        case .refusals: refusals.append(entry)
        case .reachability: reachability.append(entry)
        }
        if rights.count + settings.count > Self.doneLimit {
            if settings.count > Self.settingsShare { settings.removeFirst() } else { rights.removeFirst() }
        }
        if refusals.count > Self.refusalLimit { refusals.remove(at: oldestOfGreediest) }
        if reachability.count > Self.reachabilityLimit { reachability.removeFirst() }
    }

    /// The index of the oldest refusal of the actor with the most refusals, which is removed if there are too many.
    /// Strangers count as one actor, because a new key costs nothing.
    private var oldestOfGreediest: Int {
        let counts = refusals.reduce(into: [AuditActor?: Int]()) { $0[$1.note.actor.paired, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        return refusals.firstIndex { counts[$0.note.actor.paired] == most } ?? 0
    }

    // MARK: Flash

    /// When the next write is due, or nil if nothing is unwritten or a write is in progress.
    var nextDeadline: Instant? {
        guard writing == nil, let dueAt else { return nil }
        var due = max(dueAt, retryAt ?? dueAt)
        let limit = isUrgent ? Self.writes + Self.reservedWrites : Self.writes
        if lastWrites.count >= limit { due = max(due, lastWrites[lastWrites.count - limit] + Self.writeWindow) }
        return due
    }

    /// Returns the entries to write now, or nil. The caller answers with ``written()`` or ``failed(now:)``.
    mutating func nextWrite(now: Instant) -> Write? {
        guard let nextDeadline, nextDeadline <= now else { return nil }
        return write(now: now)
    }

    /// Returns all entries that flash lacks, before the plug stops. A write in progress is repeated, because its
    /// outcome will not be known.
    mutating func lastWrite(now: Instant) -> Write? {
        unwritten.formUnion(writing?.numbers ?? [])
        if let writing, writing.isWhole { lines = nil }
        writing = nil
        return unwritten.isEmpty ? nil : write(now: now)
    }

    private mutating func write(now: Instant) -> Write {
        let all = entries
        let isWhole = lines.map { $0 + unwritten.count > all.count + Self.slack } ?? true
        let due = isWhole ? all : all.filter { unwritten.contains($0.number) }
        if due.contains(where: { unwritten.contains($0.number) && Self.isRoutine($0.note) }) {
            lastRefusal = now
        }
        writing = (unwritten, due.count, isWhole)
        unwritten = []
        dueAt = nil
        isUrgent = false
        lastWrites = lastWrites.suffix(Self.writes + Self.reservedWrites - 1) + [now]
        return Write(entries: due, isWhole: isWhole)
    }

    mutating func written() {
        guard let (_, count, isWhole) = writing else { return }
        writing = nil
        retryAt = nil
        lines = isWhole ? count : lines.map { $0 + count }
    }

    /// Handles a failed write. The content of the file is unknown, so it will be rewritten.
    mutating func failed(now: Instant) {
        guard let (numbers, _, _) = writing else { return }
        writing = nil
        unwritten.formUnion(numbers)
        isUrgent = isUrgent || entries.contains { numbers.contains($0.number) && Self.isUrgent($0.note) }
        lines = nil
        retryAt = now + Self.retry
        dueAt = sooner(dueAt, now)
    }
}

extension AuditEntry {
    /// Returns true if this entry counts the note as a repetition. Strangers count as one actor, because a new key
    /// costs nothing. A controller with a new key is recognized by its name.
    fileprivate func counts(_ note: AuditNote, boot: BootID, now: Instant) -> Bool {
        guard self.boot == boot, now - time < AuditLog.refusalSpan, self.note.kind == note.kind,
            self.note.detail == note.detail
        else { return false }
        if note.kind == .keyRotated, case .controller(let name, _) = note.actor,
            case .controller(let known, _) = self.note.actor
        {
            return name == known
        }
        return self.note.actor.paired == note.actor.paired
    }

    /// Counts a repetition and updates the controller's key. Returns the entry's number.
    fileprivate mutating func countAgain(_ note: AuditNote) -> UInt64 {
        count = count == .max ? .max : count + 1
        if note.kind == .keyRotated { self.note = note }
        return number
    }
}

extension AuditActor {
    /// The actor if it is a controller, the broker, HomeKit or Matter; otherwise nil.
    fileprivate var paired: AuditActor? {
        switch self {
        case .controller, .broker, .homeKit, .matter: self
        case .stranger, .button, .panel, .configuration, .plug, .unknown: nil
        }
    }
}
