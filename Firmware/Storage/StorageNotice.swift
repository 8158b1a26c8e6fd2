import LinuxSystem

/// A notice about the plug's storage for the user: the failure, its reason, and a hint.
public struct StorageNotice: Hashable, Sendable, CustomStringConvertible {
    /// The kind of a notice.
    public enum Kind: Hashable, Sendable {
        /// An operation fails. Reported once, and again only if the reason changes.
        case trouble
        /// The operation succeeds again.
        case recovered
    }

    /// The kind of the notice.
    public var kind: Kind
    /// The text with reason and hint.
    public var description: String

    static func trouble(_ what: String, hint: String?) -> StorageNotice {
        StorageNotice(kind: .trouble, description: what + (hint.map { "\nhint: \($0)" } ?? ""))
    }
}

/// Reports each error once, however often it occurs.
struct StorageErrorReporter {
    /// The operations of the storage. Each one fails separately.
    enum Task: Sendable {
        case stateDirectory, runtimeDirectory, id, sequence, state, settings, controllers, code, changedCode, mirror,
            reset, clearing, audit, homeKit, matter, wiFi

        /// The consequence of a failure for the plug.
        var consequence: String {
            switch self {
            case .stateDirectory: "the plug runs, but forgets its id, relay state and energy after a power failure"
            case .runtimeDirectory: "the plug runs, but a restart of its firmware counts as a power failure"
            case .id: "the plug runs, but has a new id after a power failure"
            case .sequence:
                "the plug runs; after its reserved event numbers are used up, it skips numbers and reports a gap"
            case .state: "the plug runs, but after a power failure relay and energy have their last stored values"
            case .settings: "the plug's name and settings were not changed"
            case .controllers:
                "the plug runs; after a restart it has the previous list of controllers, including removed ones"
            case .code: "the plug runs, but has a new setup code after a restart"
            case .changedCode: "the plug's setup code was not changed"
            case .mirror: "the plug runs, but a restart of its firmware counts as a power failure"
            case .audit: "the plug runs, but a restart loses the newest entries of its audit log"
            case .homeKit: "the HomeKit pairings were not changed"
            case .matter: "the Matter fabrics were not changed"
            case .wiFi: "the Wi-Fi networks were not changed"
            case .reset: "the plug was not reset to factory state"
            case .clearing:
                "a requested factory reset is not complete; the plug stays off the network, but its button works"
            }
        }

        /// The text that reports success after failures.
        var recovery: String {
            switch self {
            case .stateDirectory, .runtimeDirectory: "the directory is usable again"
            case .id: "the plug's id is in flash"
            case .sequence: "event numbers are reserved in flash again"
            case .state: "relay state and energy are stored in flash again"
            case .settings: "name and settings can be changed again"
            case .controllers: "the list of controllers is in flash again"
            case .code: "the setup code is in flash"
            case .changedCode: "the setup code can be changed again"
            case .mirror: "the mirror is written again, so a restart of the firmware loses no data"
            case .audit: "the audit log is in flash again"
            case .homeKit: "the HomeKit pairings are in flash again"
            case .matter: "the Matter fabrics are in flash again"
            case .wiFi: "the Wi-Fi networks are in flash again"
            case .reset, .clearing: "the plug was reset to factory state"
            }
        }
    }

    private let tell: (StorageNotice) -> Void
    /// The last notice of each failing task.
    private var told: [Task: StorageNotice] = [:]

    init(_ tell: @escaping (StorageNotice) -> Void) { self.tell = tell }

    func note(_ what: String, hint: String?) { tell(.trouble(what, hint: hint)) }

    /// - Parameter consequence: the hint to use if the fault has none.
    func note(_ fault: FileFault, _ consequence: String) { note("\(fault)", hint: fault.hint ?? consequence) }

    mutating func failed(_ task: Task, _ error: FileError) {
        let notice = StorageNotice.trouble("\(error): \(task.consequence)", hint: error.hint)
        guard told.updateValue(notice, forKey: task) != notice else { return }
        tell(notice)
    }

    mutating func worked(_ task: Task) {
        guard told.removeValue(forKey: task) != nil else { return }
        tell(StorageNotice(kind: .recovered, description: task.recovery))
    }
}
