import CFirmwareProcess
import Glibc

/// Drops the privileges of a process beyond those of its user.
public enum Privileges {
    /// A capability that a process may keep (capabilities(7)), with the kernel's number.
    public enum Capability: Int32, Sendable {
        /// CAP_NET_BIND_SERVICE: ports below 1024.
        case lowPorts = 10
        /// CAP_NET_ADMIN: addresses, routes and settings of interfaces.
        case networkAdministration = 12
        /// CAP_NET_RAW: packets past the kernel's protocols.
        case rawPackets = 13
    }

    /// The reason why the kernel refused to drop a privilege.
    public struct Refusal: Error, CustomStringConvertible {
        /// The system call, or its operation.
        public let step: String
        /// The error message of the system.
        public let reason: String

        public var description: String { "cannot drop privileges: \(step): \(reason)" }
    }

    /// Drops every capability except those in `kept`, as far as the process has them. Also prevents executed programs
    /// from regaining privileges, and blocks system calls that only an attacker would need (libseccomp). Core files are
    /// disabled, and files that the process creates are not accessible for other users. Call this before the process
    /// has a second thread: the kernel changes only the calling thread, and later threads inherit the change.
    ///
    /// Root without capabilities still owns its files, but can no longer read the files of other users.
    ///
    /// - Throws: ``Refusal`` with the first step that failed. The other steps are performed nevertheless.
    public static func drop(keeping kept: Set<Capability> = []) throws(Refusal) {
        var step: UnsafePointer<CChar>?
        let error = cprivileges_drop(kept.reduce(0) { $0 | 1 << UInt64($1.rawValue) }, &step)
        guard error != 0 else { return }
        throw Refusal(step: step.map { String(cString: $0) } ?? "", reason: String(cString: strerror(error)))
    }

    /// Changes root to the owner of the plug's state directory. Files that the process writes then belong to that user,
    /// and that user's permissions apply. Does nothing if the path does not exist, if root owns it, or if the process
    /// does not run as root. Call this before ``drop(keeping:)``.
    public static func becomeOwner(of path: String) throws(Refusal) {
        var step: UnsafePointer<CChar>?
        let error = cprivileges_become_owner(path, &step)
        guard error != 0 else { return }
        throw Refusal(step: step.map { String(cString: $0) } ?? "", reason: String(cString: strerror(error)))
    }
}
