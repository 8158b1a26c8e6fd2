import Foundation
import LinuxSystem
import NIOCore
import NIOPosix
import Synchronization

/// The path of the local socket. This type checks that only the user can write in the socket's directory, and removes
/// the socket of a dead daemon.
struct LocalSocketPath {
    let path: String

    /// Locks the path, so that only one daemon clears it and creates the socket. `giveBack()` or the deinitialization
    /// of the returned value releases the lock.
    ///
    /// - Throws: `DashboardFault` if another process has the lock, or the path cannot be used.
    func lock() throws(DashboardFault) -> SocketPlace {
        guard path.utf8.count <= DaemonSocket.longestPath else {
            throw DashboardFault(
                "the path \(path) is too long for a socket\nhint: choose a shorter one with --socket")
        }
        do throws(FileError) {
            try FileStore().requireAnswer(of: directory)
            try FileStore().makeDirectories(directory)
        } catch {
            throw DashboardFault(error)
        }
        guard DaemonSocket.isSafe(directory: directory) else {
            throw DashboardFault(
                """
                \(directory) belongs to a different user, or other users may write to it and place their own socket there
                hint: choose a path in a directory of this user with --socket, or run chmod 700 \(directory)
                """)
        }
        do throws(SystemError) {
            return try SocketPlace(locking: path + ".lock")
        } catch {
            guard error != .wouldBlock else {
                throw DashboardFault(
                    "another daemon is starting at \(path)\nhint: stop it, or choose a different path with --socket")
            }
            throw DashboardFault("cannot lock \(path).lock: \(error)\nhint: choose a different path with --socket")
        }
    }

    /// Removes a stale socket.
    ///
    /// - Throws: `DashboardFault` if a running daemon answers at the path, or another file is there.
    func clear() async throws(DashboardFault) {
        switch DaemonSocket.presence(at: path) {
        case .absent: return
        case .noSocket, .foreign:
            throw DashboardFault(
                "\(path) exists and is not a socket of this user\nhint: move it away, or choose a different path with --socket"
            )
        case .own: break
        }
        if let living = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(2)).connect(unixDomainSocketPath: path).get()
        {
            living.close(promise: nil)
            throw DashboardFault(
                "another daemon is running at \(path)\nhint: stop it, or choose a different path with --socket")
        }
        remove()
    }

    /// Restricts the socket file to its owner. Call it as soon as the socket listens, before connections are admitted:
    /// until then only the process's file mode creation mask keeps other users away.
    func restrict() throws(DashboardFault) {
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            throw DashboardFault("cannot restrict permissions of \(path): \(error.localizedDescription)")
        }
    }

    func remove() { try? FileStore().removeIfPresent(path) }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// A lock file. It is never removed: a process that locked a new file would not see the lock on the removed one.
final class SocketPlace: Sendable {
    private let descriptor: Int32
    private let isHeld = Mutex(true)

    init(locking path: String) throws(SystemError) {
        let calls = LinuxFileCalls()
        descriptor = try calls.open(path, .locking)
        do throws(SystemError) {
            try calls.lock(descriptor)
        } catch {
            calls.close(descriptor)
            throw error
        }
    }

    deinit { giveBack() }

    func giveBack() {
        let isHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        if isHeld { LinuxFileCalls().close(descriptor) }
    }
}
