public import Appliance
public import LinuxSystem
public import PlugModel
public import PlugProtocol
public import ProtocolCore

/// The persistent data of a plug: a few small files in flash, which survive a power loss, and the mirror in the runtime
/// directory, which is in memory and survives the process.
///
/// The shell of ``Appliance/PlugMachine`` calls ``restore(now:)`` at its start, performs a ``FlashWrite`` per storage
/// action of the machine, and calls ``settle(_:now:)`` after all actions. Only another running plug in the same
/// directories prevents a start; all other errors are reported once and tolerated.
public final class PlugStorage {
    enum Mark { case none, thisBoot, another }

    /// The wait after a failed attempt to create a mirror.
    static let mirrorRetry = Duration.seconds(30)

    /// The plug's id: from flash, else from the mirror, else newly drawn.
    public let id: PlugID
    let boot: BootID
    let limits: PlugMemory.Limits
    let flash: StateDirectory
    let runtime: String
    var isIDStored: Bool
    /// The setup code of this start, while it is not in flash.
    var unstoredCode: SetupCode?
    /// The code that replaces the label's, as read from flash by ``access(key:random:)``.
    var changedCode = StateDirectory.Found<SetupCode>.nothing
    /// The boundary of event numbers; nil if flash has no valid one.
    private var boundary: SequenceNumber?
    var mirror: Mirror
    /// The boot whose mirror flash marks as invalid.
    var mark: Mark
    var mirrorRetryAt = Instant.zero
    var replay: MirrorReplay?
    var troubles: StorageErrorReporter
    /// The locks until ``close()``, so that two plugs never write the same files.
    var locks: [DirectoryLock]
    var isClosed = false
    /// True if this start reset the plug, false if a pending reset failed, nil if none was pending.
    private let isReset: Bool?
    /// The actor who ordered the reset of this start, or nil without a reset.
    let resetBy: AuditActor?
    /// The paired controllers in flash when the firmware starts; nil if the file is damaged or cannot be read.
    private lazy var listed: PairedControllers? =
        switch flash.controllers({ troubles.note($0, Self.controllersHint) }) {
        case .value(let known): known
        case .nothing: PairedControllers()
        case .unusable: nil
        }

    /// Locks both directories, creates missing ones, and reads the plug's identity.
    ///
    /// - Parameters:
    ///   - state: the directory in flash.
    ///   - runtime: the directory in memory.
    ///   - boot: the kernel's current boot. A mirror of a different one is ignored.
    ///   - codeAfterReset: the kind of setup code after a pending reset.
    ///   - random: a secure generator.
    ///   - tell: receives a notice for each error, once per error.
    /// - Throws: `FileError` with the reason `held` if another plug uses one of the directories.
    public init(
        state: String, runtime: String, boot: BootID, limits: PlugMemory.Limits = PlugMemory.Limits(),
        codeAfterReset: CodeAfterReset = .label, files: FileStore = FileStore(),
        random: inout some RandomNumberGenerator,
        tell: @escaping (StorageNotice) -> Void
    ) throws(FileError) {
        self.boot = boot
        self.limits = limits
        self.runtime = runtime
        flash = StateDirectory(path: state, files: files)
        mirror = Mirror(in: runtime, files: files)
        var troubles = StorageErrorReporter(tell)
        var locks = [try Self.lock(state, .stateDirectory, files, &troubles)]
        if runtime != state { locks.append(try Self.lock(runtime, .runtimeDirectory, files, &troubles)) }
        self.locks = locks.compactMap(\.self)
        let reset = FactoryReset(flash: flash, runtime: runtime)
        let asker = reset.asker
        isReset = Self.carryOutReset(reset, boot: boot, code: codeAfterReset, &random, &troubles)
        resetBy = isReset == true ? asker : nil
        let unmirrored = flash.unmirrored { troubles.note($0, "controllers receive a gap") }
        switch unmirrored {
        case .nothing: mark = .none
        case .value(boot): mark = .thisBoot
        case .value, .unusable: mark = .another
        }
        switch unmirrored {
        case .value(boot), .unusable: replay = nil
        case .value, .nothing: replay = isReset == false ? nil : Self.replay(mirror, of: boot, &troubles)
        }
        let stored = flash.id { troubles.note($0, "the plug uses the id of its mirror, or a new one") }
        if case .value(let known) = stored {
            id = known
            isIDStored = true
        } else {
            id = replay?.id ?? PlugID(drawnFrom: &random)
            isIDStored = false
        }
        if let replay, replay.id != id { self.replay = nil }
        let numbers = flash.boundary { troubles.note($0, Self.leapHint) }
        switch (numbers, stored) {
        case (.value(let known), _): boundary = known
        case (.nothing, .nothing): boundary = 1
        case (.nothing, _):
            boundary = nil
            troubles.note("\(state)/sequence is missing", hint: Self.leapHint)
        case (.unusable, _): boundary = nil
        }
        self.troubles = troubles
    }

    /// Restores the plug's data, starts a mirror and reserves the first event numbers. Call it once.
    public func restore(now: Instant) -> PlugMemory {
        let inFlash = stateInFlash()
        let mirrored = mirroredMemory()
        let isMirrored = mirrored != nil
        var memory = mirrored ?? flashMemory(inFlash)
        memory.appliance.inFlash = inFlash
        let next = memory.journal.nextSequence
        memory.numbers = ReservedNumbers(below: boundary ?? 0, next: next, size: limits.reservation)
        // If neither flash nor mirror has the numbers, the plug skips ahead first and reserves afterwards.
        let beyond = next + SequenceNumber(memory.unnumbered.count)
        if boundary != nil || isMirrored, let wanted = memory.numbers.request(next: beyond, now: now) {
            if reserve(upTo: wanted) {
                memory.numbers.confirm(wanted, next: next)
            } else {
                memory.numbers.fail(now: now)
            }
        }
        storeID()
        begin(memory, now: now)
        if mirror.isStale, mark != .thisBoot {
            // An outdated mirror remains, and flash could not mark it as invalid. The next process would trust it and
            // reuse the numbers of this process, so the plug skips ahead.
            memory.numbers = ReservedNumbers(below: 0, next: next, size: limits.reservation)
        }
        return memory
    }

    /// True if this start performed a factory reset.
    public var wasReset: Bool { isReset == true }

    /// True if a pending factory reset failed. The plug accepts no controllers and no pairing until it succeeds.
    public var isUnfinished: Bool { isReset == false }

    /// True if a controller is paired, or if the list is damaged, so that one may be. Paired controllers have pinned
    /// the plug's key.
    public var isPaired: Bool { listed.map { !$0.all.isEmpty } ?? true }

    /// Returns the access data. Call it once.
    ///
    /// A damaged list or code is reported at every start until it is written again. With a damaged list, the plug runs
    /// but accepts no controllers; with a damaged code, it runs but accepts no pairing.
    ///
    /// - Parameters:
    ///   - key: the plug's own key.
    ///   - random: a secure generator, which creates a missing setup code.
    public func access(key: PublicKey, random: inout some RandomNumberGenerator) -> PlugServer.Access {
        guard !isUnfinished else { return PlugServer.Access(key: key, code: nil, controllers: nil) }
        changedCode = flash.changedCode { troubles.note($0, Self.changedCodeHint) }
        let code: SetupCode? =
            switch changedCode {
            case .value(let known): known
            case .nothing: codeOfLabel(&random)
            case .unusable: nil
            }
        return PlugServer.Access(key: key, code: code, controllers: listed)
    }

    /// The setup code on the label; nil if flash cannot be read. Call it after ``access(key:random:)``.
    public var labelCode: SetupCode? {
        if let unstoredCode { return unstoredCode }
        guard case .value(let code) = flash.setupCode({ _ in }) else { return nil }
        return code
    }

    private func codeOfLabel(_ random: inout some RandomNumberGenerator) -> SetupCode? {
        switch flash.setupCode({ troubles.note($0, Self.codeHint) }) {
        case .value(let known): return known
        case .nothing:
            let code = SetupCode(drawnFrom: &random)
            unstoredCode = code
            storeCode()
            return code
        case .unusable: return nil
        }
    }

    /// Returns the remote settings in flash. Call it once, because each call reports a damaged file.
    public func settings() -> StoredSettings {
        guard !isUnfinished,
            case .value(let known) = flash.settings({ troubles.note($0, Self.settingsHint) })
        else { return StoredSettings() }
        return known
    }

    // MARK: Steps

    private static let leapHint =
        "no action is required; event numbers continue far above all used ones, and controllers receive a gap"

    private static let controllersHint =
        "no controller can connect, but the button works. Hold it for five seconds and pair again, or restore the file and restart"
    private static let settingsHint =
        "the plug uses the name and settings of its configuration; set them again with `plugctl rename` and `plugctl set`"
    private static let codeHint =
        "the plug cannot be paired; existing pairings are kept. Write the label's code into the file, in two equal lines"

    private static let changedCodeHint =
        "the plug cannot be paired; existing pairings are kept. Set a new code with `plugctl new-code` or `plugd new-code`"

    private static func lock(
        _ directory: String, _ task: StorageErrorReporter.Task, _ files: FileStore,
        _ troubles: inout StorageErrorReporter
    ) throws(FileError) -> DirectoryLock? {
        do throws(FileError) {
            try files.makeDirectories(directory)
            return try DirectoryLock(directory, store: files)
        } catch {
            if case .held = error.reason { throw error }
            troubles.failed(task, error)
            return nil
        }
    }

    private func stateInFlash() -> StoredState? {
        let found = flash.state { troubles.note($0, "check whether the relay is in the right state") }
        guard case .value(let state) = found else { return nil }
        return state
    }

    private func flashMemory(_ state: StoredState?) -> PlugMemory {
        let reason: Gap.Reason = boundary == nil ? .storageFailed : isReset == true ? .factoryReset : .powerLost
        let journal = EventJournal(nextSequence: boundary ?? 1, lossBefore: reason, limits: limits.journal)
        let appliance = ApplianceMemory(state, powerLost: isReset != true)
        return PlugMemory(journal: journal, appliance: appliance, limits: limits)
    }

    private func storeID() {
        guard !isIDStored else { return }
        isIDStored = attempt(.id) { () throws(FileError) in try flash.write(id) }
    }

    private func storeCode() {
        guard let code = unstoredCode else { return }
        if attempt(.code, { () throws(FileError) in try flash.write(code) }) { unstoredCode = nil }
    }

    func attempt(_ task: StorageErrorReporter.Task, _ work: () throws(FileError) -> Void) -> Bool {
        do throws(FileError) {
            try work()
            troubles.worked(task)
            return true
        } catch {
            troubles.failed(task, error)
            return false
        }
    }
}
