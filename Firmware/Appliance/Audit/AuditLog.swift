public import PlugModel
import ProtocolCore

/// Who changed, or tried to change, what the plug is and whom it obeys: entries with limits, and when which of them go to flash.
///
/// What was done goes to flash at once. What was refused, and new keys of controllers, go there too, but at most once in
/// ``refusalSpacing``: such entries wait for it, or for an entry of something done. All together that is at most ``writes`` per hour.
/// Entries that decide who may command have ``reservedWrites`` more, so that nothing else can keep them out of flash. A write adds to
/// the file; about every two hundredth entry has all of it written again. So the file has at most 1,400 lines.
public struct AuditLog: Sendable {
    /// Entries of what was done, at least the last so many...
    public static let doneLimit = 1000
    /// ...but that settings, firmware and new keys, if they have more than so many, give way to who may do what: a controller that
    /// may only change settings or its key cannot have a pairing forgotten.
    public static let settingsShare = 500
    /// Entries of what was refused. In a room of their own, so that nobody can have anything else forgotten by being refused.
    public static let refusalLimit = 200
    /// What is refused again to the same one within this time of the first counts in its entry, and so does another new key.
    static let refusalSpan = Duration.seconds(3600)
    static let refusalSpacing = Duration.seconds(900)
    /// Writes in an hour.
    static let writes = 30
    /// Further writes in an hour, for entries that decide who may command.
    static let reservedWrites = 30
    static let writeWindow = Duration.seconds(3600)
    /// After a failed write.
    static let retry = Duration.seconds(300)
    /// Entries that the file has more than the log before it is written anew.
    static let slack = 200

    /// A write to flash.
    public struct Write: Hashable, Sendable {
        public var entries: [AuditEntry]
        /// They are all that the file is to have; else they come behind what it has, and take the place of those with the same
        /// number.
        public var isWhole: Bool

        package init(entries: [AuditEntry], isWhole: Bool) {
            self.entries = entries
            self.isWhole = isWhole
        }
    }

    private enum Room { case rights, settings, refusals }

    private var rights: [AuditEntry] = []
    private var settings: [AuditEntry] = []
    private var refusals: [AuditEntry] = []
    private var nextNumber: UInt64 = 1
    /// Numbers that flash lacks, or has with another count.
    private var unwritten: Set<UInt64> = []
    /// Those on their way.
    private var writing: (numbers: Set<UInt64>, lines: Int, isWhole: Bool)?
    /// Lines of the file; nil: it has to be written anew.
    private var lines: Int?
    /// When flash is to have what is unwritten.
    private var dueAt: Instant?
    private var lastWrites: [Instant] = []
    private var lastRefusal: Instant?
    /// What is unwritten decides who may command.
    private var isUrgent = false
    private var retryAt: Instant?
    private let remark: String?
    private let resetBy: AuditActor?

    /// - Parameters:
    ///   - entries: those of the file, in its order; of several with one number the last counts.
    ///   - lines: of the file, where what is written may stand behind them; nil: it is to be written anew.
    ///   - remark: what became of entries that could not be read; nil: all could.
    ///   - resetBy: who had the plug set back to factory state at this start.
    public init(_ entries: [AuditEntry] = [], lines: Int? = nil, remark: String? = nil, resetBy: AuditActor? = nil) {
        self.lines = lines
        self.remark = remark
        self.resetBy = resetBy
        var newest: [UInt64: AuditEntry] = [:]
        for entry in entries { newest[entry.number] = entry }
        for entry in newest.values.sorted(by: { $0.number < $1.number }) { keep(entry) }
        nextNumber = (newest.keys.max() ?? 0) + 1
    }

    public var entries: [AuditEntry] { (rights + settings + refusals).sorted { $0.number < $1.number } }

    /// What this start has to say.
    mutating func begin(firmware: String, boot: BootID, now: Instant) {
        if let resetBy { record(AuditNote(.factoryReset, by: resetBy), boot: boot, now: now) }
        if let remark { record(AuditNote(.lost, by: .plug, remark), boot: boot, now: now) }
        let before = settings.last { $0.note.kind == .firmware }?.note.detail.split(separator: ",").first
        guard before.map(String.init) != firmware else { return }
        let detail = before.map { "\(firmware), before: \($0)" } ?? firmware
        record(AuditNote(.firmware, by: .plug, detail), boot: boot, now: now)
    }

    mutating func record(_ note: AuditNote, boot: BootID, now: Instant) {
        let isRoutine = Self.isRoutine(note)
        if isRoutine, let index = refusals.lastIndex(where: { $0.counts(note, boot: boot, now: now) }) {
            unwritten.insert(refusals[index].countAgain(note))
        } else if isRoutine, let index = settings.lastIndex(where: { $0.counts(note, boot: boot, now: now) }) {
            unwritten.insert(settings[index].countAgain(note))
        } else {
            // A plug does not live long enough.
            guard nextNumber <= AuditEntry.highestNumber else { return }
            keep(AuditEntry(number: nextNumber, boot: boot, time: now, note))
            unwritten.insert(nextNumber)
            nextNumber += 1
        }
        let due = isRoutine ? max(now, lastRefusal.map { $0 + Self.refusalSpacing } ?? now) : now
        dueAt = sooner(dueAt, due)
        isUrgent = isUrgent || Self.isUrgent(note)
    }

    /// - Parameter limit: nil: all of those after the number; else the newest of them.
    func page(after number: UInt64, limit: Int?) -> AuditPage {
        let asked = entries.filter { $0.number > number }.suffix(limit ?? .max)
        return AuditPage(
            Array(asked.prefix(PlugWire.auditEntriesAtOnce)), isLast: asked.count <= PlugWire.auditEntriesAtOnce)
    }

    // MARK: Room

    private static func room(of note: AuditNote) -> Room {
        guard !note.isRefused else { return .refusals }
        return switch note.kind {
        case .renamed, .configured, .firmware, .keyRotated: .settings
        case .refused, .pairingFailed: .refusals
        case .paired, .removed, .factoryReset, .roleChanged, .invited, .codeChanged, .lost, .unknown: .rights
        }
    }

    /// Entries that a controller of any role can cause as often as it likes: repetitions count in one entry, and they share writes.
    private static func isRoutine(_ note: AuditNote) -> Bool {
        if case .controller = note.actor, note.kind == .keyRotated { return true }
        return room(of: note) == .refusals
    }

    private static func isUrgent(_ note: AuditNote) -> Bool {
        guard !note.isRefused else { return false }
        return switch note.kind {
        case .paired, .removed, .factoryReset, .roleChanged, .codeChanged: true
        case .renamed, .configured, .firmware, .keyRotated, .refused, .pairingFailed, .invited, .lost, .unknown: false
        }
    }

    private mutating func keep(_ entry: AuditEntry) {
        switch Self.room(of: entry.note) {
        case .rights: rights.append(entry)
        case .settings: settings.append(entry)
        case .refusals: refusals.append(entry)
        }
        if rights.count + settings.count > Self.doneLimit {
            if settings.count > Self.settingsShare { settings.removeFirst() } else { rights.removeFirst() }
        }
        if refusals.count > Self.refusalLimit { refusals.remove(at: oldestOfGreediest) }
    }

    /// Whoever is refused most has his own forgotten; strangers are one, since a key costs them nothing.
    private var oldestOfGreediest: Int {
        let counts = refusals.reduce(into: [AuditActor?: Int]()) { $0[$1.note.actor.paired, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        return refusals.firstIndex { counts[$0.note.actor.paired] == most } ?? 0
    }

    // MARK: Flash

    /// When something is to be written; nil while nothing is, and while a write is under way.
    var nextDeadline: Instant? {
        guard writing == nil, let dueAt else { return nil }
        var due = max(dueAt, retryAt ?? dueAt)
        let limit = isUrgent ? Self.writes + Self.reservedWrites : Self.writes
        if lastWrites.count >= limit { due = max(due, lastWrites[lastWrites.count - limit] + Self.writeWindow) }
        return due
    }

    /// What is to be written now: to be answered by ``written()`` or ``failed(now:)``.
    mutating func nextWrite(now: Instant) -> Write? {
        guard let nextDeadline, nextDeadline <= now else { return nil }
        return write(now: now)
    }

    /// All that flash lacks, before the plug stops; what is under way is among it, since nobody hears of it any more.
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

    /// Nobody knows what stands in the file: it is written anew.
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
    /// Whether this counts what is noted now. Strangers are one, as a key costs them nothing; a controller that has another key is the
    /// one of this name.
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

    /// Counts a repetition, and names who caused it by the newest key. Returns the entry's number.
    fileprivate mutating func countAgain(_ note: AuditNote) -> UInt64 {
        count = count == .max ? .max : count + 1
        if note.kind == .keyRotated { self.note = note }
        return number
    }
}

extension AuditActor {
    /// Nil for all who may not command.
    fileprivate var paired: AuditActor? {
        switch self {
        case .controller, .broker, .homeKit: self
        case .stranger, .button, .panel, .configuration, .plug, .unknown: nil
        }
    }
}
