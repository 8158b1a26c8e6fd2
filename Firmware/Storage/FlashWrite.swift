public import Appliance
import DurableFiles
public import PlugModel
public import PlugProtocol

/// One write to flash, to be performed on any thread: a storage that hangs keeps nobody waiting who does not need it. What comes
/// of it goes back to ``PlugStorage/finish(_:)``, which tells troubles.
///
/// Writes are performed one at a time, in the order in which they were made.
public struct FlashWrite: Sendable {
    enum Content: Sendable {
        case state(StoredState)
        case settings(StoredSettings)
        /// The plug's id and its code go with the first boundary that flash takes, where it does not have them yet.
        case boundary(SequenceNumber, id: PlugID?, code: SetupCode?)
        case controllers(PairedControllers)
        case code(SetupCode, before: StateDirectory.Found<SetupCode>)
        case reset(FactoryReset, by: AuditActor)
        case audit(AuditLog.Write)
        case homeKit([UInt8])
    }

    let content: Content
    let flash: StateDirectory

    public func perform() -> FlashResult {
        var result = FlashResult()
        switch content {
        case .state(let state):
            result.attempt(.state) { () throws(FileError) in try flash.write(state) }
        case .settings(let settings):
            result.attempt(.settings) { () throws(FileError) in try flash.write(settings) }
        case .boundary(let boundary, let id, let code):
            result.attempt(.sequence) { () throws(FileError) in try flash.write(boundary: boundary) }
            guard result.isWritten else { break }
            if let id { result.attempt(.id) { () throws(FileError) in try flash.write(id) } }
            if let code { result.attempt(.code) { () throws(FileError) in try flash.write(code) } }
        case .controllers(let controllers):
            result.attempt(.controllers) { () throws(FileError) in try flash.write(controllers) }
        case .code(let code, let before):
            result.attempt(.changedCode) { () throws(FileError) in try flash.write(changed: code, before: before) }
            if result.isWritten { result.code = code }
        case .reset(let reset, let actor):
            result.attempt(.reset) { () throws(FileError) in try reset.order(by: actor) }
        case .audit(let audit):
            result.attempt(.audit) { () throws(FileError) in try flash.write(audit) }
        case .homeKit(let records):
            result.attempt(.homeKit) { () throws(FileError) in try flash.write(homeKit: records) }
        }
        return result
    }
}

/// What came of a ``FlashWrite``.
public struct FlashResult: Sendable {
    struct Attempt: Sendable {
        var task: Troubles.Task
        /// Nil: it was written.
        var error: FileError?
    }

    /// The first is what was asked for; what goes with it follows.
    private(set) var attempts: [Attempt] = []
    /// The setup code that was written.
    var code: SetupCode?

    var isWritten: Bool { attempts.first.map { $0.error == nil } ?? false }

    mutating func attempt(_ task: Troubles.Task, _ work: () throws(FileError) -> Void) {
        do throws(FileError) {
            try work()
            attempts.append(Attempt(task: task))
        } catch {
            attempts.append(Attempt(task: task, error: error))
        }
    }
}

/// The machine's storage actions as writes, and what becomes of them.
extension PlugStorage {
    /// Who is paired.
    public func writing(_ controllers: PairedControllers) -> FlashWrite {
        FlashWrite(content: .controllers(controllers), flash: flash)
    }

    /// Another setup code than the one before, which stays where it fails.
    public func writing(_ code: SetupCode) -> FlashWrite {
        FlashWrite(content: .code(code, before: changedCode), flash: flash)
    }

    public func writing(_ state: StoredState) -> FlashWrite { FlashWrite(content: .state(state), flash: flash) }

    /// What controllers changed.
    public func writing(_ settings: StoredSettings) -> FlashWrite {
        FlashWrite(content: .settings(settings), flash: flash)
    }

    /// That event numbers below this may have been used.
    public func reserving(upTo boundary: SequenceNumber) -> FlashWrite {
        FlashWrite(
            content: .boundary(boundary, id: isIDStored ? nil : id, code: unstoredCode), flash: flash)
    }

    /// That the plug is set back to factory state. Where it fails the plug is as it was. What is to be forgotten goes when the next
    /// value takes the directories.
    public func orderingReset(by actor: AuditActor) -> FlashWrite {
        FlashWrite(content: .reset(FactoryReset(flash: flash, runtime: runtime), by: actor), flash: flash)
    }

    /// Takes note of what came of a write, and tells troubles; false where flash does not have what was asked for.
    public func finish(_ result: FlashResult) -> Bool {
        for attempt in result.attempts {
            if let error = attempt.error {
                troubles.failed(attempt.task, error)
                continue
            }
            troubles.worked(attempt.task)
            switch attempt.task {
            case .id: isIDStored = true
            case .code: unstoredCode = nil
            case .changedCode: if let code = result.code { changedCode = .value(code) }
            case .sequence: unmark()
            case .state, .settings, .controllers, .audit, .homeKit, .reset, .stateDirectory, .runtimeDirectory, .mirror,
                .clearing:
                break
            }
        }
        return result.isWritten
    }

    // MARK: At once, as a simulation does

    /// Writes to flash who is paired; false where that failed.
    public func keep(_ controllers: PairedControllers) -> Bool { finish(writing(controllers).perform()) }

    /// Writes another setup code to flash; false where that failed, and the one before stays.
    public func keep(_ code: SetupCode) -> Bool { finish(writing(code).perform()) }

    /// Writes the state to flash; false where that failed.
    public func persist(_ state: StoredState) -> Bool { finish(writing(state).perform()) }

    /// Writes to flash what controllers changed; false where that failed, and flash has what it had.
    public func keep(_ settings: StoredSettings) -> Bool { finish(writing(settings).perform()) }

    /// Writes to flash that event numbers below this may have been used; false where that failed.
    public func reserve(upTo boundary: SequenceNumber) -> Bool { finish(reserving(upTo: boundary).perform()) }

    /// Has flash say that the plug is set back to factory state; false where that failed.
    public func orderReset(by actor: AuditActor = .unknown) -> Bool { finish(orderingReset(by: actor).perform()) }
}
