public import Appliance
import LinuxSystem
public import PlugModel
public import PlugProtocol

/// One write to flash, which any thread may perform, so that a storage that hangs only delays its own callers. Pass the
/// result to ``PlugStorage/finish(_:)``, which reports errors.
///
/// Writes must be performed one at a time, in the order of their creation.
public struct FlashWrite: Sendable {
    enum Content: Sendable {
        case state(StoredState)
        case settings(StoredSettings)
        /// The boundary of event numbers. The plug's id and code are written together with the first boundary if flash
        /// does not have them yet.
        case boundary(SequenceNumber, id: PlugID?, code: SetupCode?)
        case controllers(PairedControllers)
        case code(SetupCode, before: StateDirectory.Found<SetupCode>)
        case reset(FactoryReset, by: AuditActor)
        case audit(AuditLog.Write)
        case homeKit([UInt8])
        case matter([UInt8])
        case wiFi(String)
    }

    let content: Content
    let flash: StateDirectory

    /// Performs the write and blocks until it is durable. Errors are part of the result.
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
        case .matter(let records):
            result.attempt(.matter) { () throws(FileError) in try flash.write(matter: records) }
        case .wiFi(let line):
            result.attempt(.wiFi) { () throws(FileError) in try flash.write(wiFi: line) }
        }
        return result
    }
}

/// The result of a ``FlashWrite``.
public struct FlashResult: Sendable {
    struct Attempt: Sendable {
        var task: StorageErrorReporter.Task
        /// The error; nil after success.
        var error: FileError?
    }

    /// The attempts: the requested one first, then additional ones.
    private(set) var attempts: [Attempt] = []
    /// The setup code that was written.
    var code: SetupCode?

    /// True if the requested content is in flash.
    var isWritten: Bool { attempts.first.map { $0.error == nil } ?? false }

    mutating func attempt(_ task: StorageErrorReporter.Task, _ work: () throws(FileError) -> Void) {
        do throws(FileError) {
            try work()
            attempts.append(Attempt(task: task))
        } catch {
            attempts.append(Attempt(task: task, error: error))
        }
    }
}

/// Creates writes for the machine's storage actions, and handles their results.
extension PlugStorage {
    /// Returns a write of the paired controllers.
    public func writing(_ controllers: PairedControllers) -> FlashWrite {
        FlashWrite(content: .controllers(controllers), flash: flash)
    }

    /// Returns a write of a new setup code. If it fails, the previous code stays valid.
    public func writing(_ code: SetupCode) -> FlashWrite {
        FlashWrite(content: .code(code, before: changedCode), flash: flash)
    }

    /// Returns a write of the state.
    public func writing(_ state: StoredState) -> FlashWrite { FlashWrite(content: .state(state), flash: flash) }

    /// Returns a write of the remote settings.
    public func writing(_ settings: StoredSettings) -> FlashWrite {
        FlashWrite(content: .settings(settings), flash: flash)
    }

    /// Returns a write that reserves all event numbers below the boundary.
    public func reserving(upTo boundary: SequenceNumber) -> FlashWrite {
        FlashWrite(
            content: .boundary(boundary, id: isIDStored ? nil : id, code: unstoredCode), flash: flash)
    }

    /// Returns a write that orders a factory reset. If it fails, the plug is unchanged. The data is removed when the
    /// next ``PlugStorage`` opens the directories.
    public func orderingReset(by actor: AuditActor) -> FlashWrite {
        FlashWrite(content: .reset(FactoryReset(flash: flash, runtime: runtime), by: actor), flash: flash)
    }

    /// Handles the result of a write and reports errors. Returns false if the requested content is not in flash.
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
            case .state, .settings, .controllers, .audit, .homeKit, .matter, .wiFi, .reset,
                .stateDirectory, .runtimeDirectory, .mirror, .clearing:
                break
            }
        }
        return result.isWritten
    }

    // MARK: Writes that block the caller, for simulations

    /// Writes the paired controllers to flash. Returns false on failure.
    public func keep(_ controllers: PairedControllers) -> Bool { finish(writing(controllers).perform()) }

    /// Writes a new setup code to flash. Returns false on failure; the previous code then stays valid.
    public func keep(_ code: SetupCode) -> Bool { finish(writing(code).perform()) }

    /// Writes the state to flash. Returns false on failure.
    public func persist(_ state: StoredState) -> Bool { finish(writing(state).perform()) }

    /// Writes the remote settings to flash. Returns false on failure; flash then keeps the previous ones.
    public func keep(_ settings: StoredSettings) -> Bool { finish(writing(settings).perform()) }

    /// Reserves all event numbers below the boundary in flash. Returns false on failure.
    public func reserve(upTo boundary: SequenceNumber) -> Bool { finish(reserving(upTo: boundary).perform()) }

    /// Orders a factory reset in flash. Returns false on failure.
    public func orderReset(by actor: AuditActor = .unknown) -> Bool { finish(orderingReset(by: actor).perform()) }
}
