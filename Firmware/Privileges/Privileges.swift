import CPrivileges
import Glibc

/// What a process may do beyond what its user may.
public enum Privileges {
    /// What a process may keep of capabilities(7), with the kernel's number.
    public enum Capability: Int32, Sendable {
        /// CAP_NET_ADMIN: addresses, routes and settings of interfaces.
        case networkAdministration = 12
        /// CAP_NET_RAW: packets past the kernel's protocols.
        case rawPackets = 13
    }

    /// The kernel refused to take something away.
    public struct Refusal: Error, CustomStringConvertible {
        /// The system call, or its operation.
        public let step: String
        public let reason: String

        public var description: String { "cannot give up privileges: \(step): \(reason)" }
    }

    /// Gives up every capability but those to be kept, as far as the process has them, every program that could give one back, and the system calls that only an intruder would
    /// make (libseccomp). Also keeps secrets out of core files, and what it makes from others. To be called before the process has a second thread: the kernel
    /// takes these things from a thread, and others inherit what it has then.
    ///
    /// Root without capabilities still owns its files, but no longer reads everybody's.
    public static func drop(keeping kept: Set<Capability> = []) throws(Refusal) {
        var step: UnsafePointer<CChar>?
        let error = cprivileges_drop(kept.reduce(0) { $0 | 1 << UInt64($1.rawValue) }, &step)
        guard error != 0 else { return }
        throw Refusal(step: step.map { String(cString: $0) } ?? "", reason: String(cString: strerror(error)))
    }

    /// Root becomes the user who owns a plug's state: what it writes stays that user's, and it meets what that user may not do.
    /// Where nothing is there, and for anybody else, nothing happens. To be called before ``drop(keeping:)``.
    public static func becomeOwner(of path: String) throws(Refusal) {
        var step: UnsafePointer<CChar>?
        let error = cprivileges_become_owner(path, &step)
        guard error != 0 else { return }
        throw Refusal(step: step.map { String(cString: $0) } ?? "", reason: String(cString: strerror(error)))
    }
}
