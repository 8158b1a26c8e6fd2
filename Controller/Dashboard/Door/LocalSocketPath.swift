import DurableFiles
import Foundation
import NIOCore
import NIOPosix

/// The place of the local socket: a directory that is the user's alone, and no dead daemon's socket in it.
struct LocalSocketPath {
    let path: String

    /// Makes room for a socket.
    ///
    /// - Throws: where a living daemon has it, or something stands there that is none.
    func clear() async throws(DashboardFault) {
        guard path.utf8.count <= DaemonSocket.longestPath else {
            throw DashboardFault(
                "the path \(path) is too long for a socket\nhint: name a shorter one with --socket")
        }
        do throws(FileError) { try FileStore().makeDirectories(directory) } catch { throw DashboardFault(error) }
        let access = (try? FileManager.default.attributesOfItem(atPath: directory))?[.posixPermissions] as? Int ?? 0
        // In a directory such as /tmp nobody can take another's file away.
        guard access & 0o022 == 0 || access & 0o1000 != 0 else {
            throw DashboardFault(
                "others may write in \(directory), and put a socket of theirs there\nhint: chmod 700 \(directory)")
        }
        switch DaemonSocket.presence(at: path) {
        case .absent: return
        case .noSocket, .foreign:
            throw DashboardFault("\(path) is in the way\nhint: move it away, or name another path with --socket")
        case .own: break
        }
        if let living = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(2)).connect(unixDomainSocketPath: path).get()
        {
            living.close(promise: nil)
            throw DashboardFault(
                "another daemon answers at \(path)\nhint: stop it, or name another path with --socket")
        }
        remove()
    }

    /// To be called as soon as it listens. Nobody could reach it before that could write in its directory.
    func restrict() throws(DashboardFault) {
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            throw DashboardFault("cannot keep others from \(path): \(error.localizedDescription)")
        }
    }

    func remove() { try? FileStore().removeIfPresent(path) }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
