internal import Glibc

/// How a script's process came to its end without having been asked to.
public enum ScriptDeath: Error, Hashable, Sendable {
    /// A call, or the loading, took more of the processor than it may.
    case computed
    /// A call of the kernel that no script may make.
    case forbidden
    /// What it keeps leaves no room for more. It says so after an answer, so that nothing is lost of what it was asked before.
    case full
    /// What keeps a script from the rest of the machine cannot be set up here.
    case unshut
    /// So long no answer, on the clock of the wall.
    case silent(Duration)
    /// It wrote what nobody understands.
    case garbled(String)
    /// By somebody, or by the kernel for want of memory.
    case killed
    case crashed(signal: Int32)
    case exited(status: Int32)
    /// The system does not say.
    case unknown

    /// Whether it did this to itself: calling it again would do the same again.
    public var isItsOwn: Bool {
        switch self {
        case .computed, .forbidden, .silent, .garbled: true
        case .full, .unshut, .killed, .crashed, .exited, .unknown: false
        }
    }
}

extension ScriptDeath: CustomStringConvertible {
    /// What it did, to follow on who it is.
    public var description: String {
        switch self {
        case .computed: "it computed for more than 1 s"
        case .forbidden: "it tried what a script may not: files, the network and other processes are out of its reach"
        case .full: "it keeps more in memory than a script may"
        case .unshut: "it cannot be shut in: scripts need a kernel, and a service, with seccomp filters"
        case .silent(let span): "it gave no answer for \(span.components.seconds) s"
        case .garbled(let why): "its process wrote what is no answer (\(why))"
        case .killed: "its process was killed"
        case .crashed(let signal): "its process crashed (signal \(signal))"
        case .exited(let status): "its process ended by itself (status \(status))"
        case .unknown: "its process ended, and the system does not say how"
        }
    }
}

extension ScriptDeath {
    /// - Parameter status: as waitpid(2) has it.
    init(status: Int32) {
        let signal = status & 0x7f
        switch signal {
        // Statuses of ScriptHost/main.c.
        case 0 where status >> 8 & 0xff == 71: self = .unshut
        case 0 where status >> 8 & 0xff == 75: self = .full
        case 0: self = .exited(status: status >> 8 & 0xff)
        case SIGPROF, SIGXCPU, SIGVTALRM: self = .computed
        case SIGSYS: self = .forbidden
        case SIGKILL, SIGTERM, SIGINT, SIGHUP: self = .killed
        case _: self = .crashed(signal: signal)
        }
    }
}
