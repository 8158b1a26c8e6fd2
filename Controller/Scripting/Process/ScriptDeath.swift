internal import Glibc

/// The reason why a script's process ended.
public enum ScriptDeath: Error, Hashable, Sendable {
    /// A call, or loading the script, exceeded the limit of processor time.
    case computed
    /// The process made a system call that the sandbox forbids.
    case forbidden
    /// The script's data leaves no room for more. The host reports this after an answer, so that no answer is lost.
    case full
    /// The sandbox cannot be set up on this machine.
    case unshut
    /// The process did not answer for this time.
    case silent(Duration)
    /// The process wrote something that is not a valid answer.
    case garbled(String)
    /// The process was killed: by the controller, by a user, or by the kernel for lack of memory.
    case killed
    /// A signal that no other case covers ended the process.
    case crashed(signal: Int32)
    /// The process exited with this status.
    case exited(status: Int32)
    /// The system did not report the reason.
    case unknown

    /// True if the script caused the end itself, so that a repeated call would end in the same way.
    public var isItsOwn: Bool {
        switch self {
        case .computed, .forbidden, .silent, .garbled: true
        case .full, .unshut, .killed, .crashed, .exited, .unknown: false
        }
    }
}

extension ScriptDeath: CustomStringConvertible {
    /// A description of the end, to append to the name of the script.
    public var description: String {
        switch self {
        case .computed: "it computed for more than 1 s"
        case .forbidden: "it made a forbidden system call: scripts cannot access files, the network or other processes"
        case .full: "it exceeded the memory limit of scripts"
        case .unshut: "its sandbox cannot be set up: the kernel and the daemon's service must allow seccomp filters"
        case .silent(let span): "it did not answer for \(span.components.seconds) s"
        case .garbled(let why): "its process sent an invalid answer (\(why))"
        case .killed: "its process was killed"
        case .crashed(let signal): "its process crashed (signal \(signal))"
        case .exited(let status): "its process ended by itself (status \(status))"
        case .unknown: "its process ended for an unknown reason"
        }
    }
}

extension ScriptDeath {
    /// - Parameter status: the status of waitpid(2).
    init(status: Int32) {
        let signal = status & 0x7f
        switch signal {
        // Exit statuses of ScriptHost/main.c.
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
