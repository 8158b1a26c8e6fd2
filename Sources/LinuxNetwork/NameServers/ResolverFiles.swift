import DNSWire
import Glibc
import LinuxSystem
import MulticastDNS
import UnicastDNS

/// The list of name servers in the first file that exists, in the form of resolv.conf(5).
struct ResolverFiles {
    /// The limit of the file's size. A usual file has a few hundred bytes.
    private static let sizeLimit = 64 << 10

    /// The properties that change when a program replaces or writes the file.
    private struct Version: Hashable {
        let path: String
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let seconds: time_t
        let nanoseconds: Int
    }

    private let paths: [String]
    private var version: Version?

    init(paths: [String]) { self.paths = paths }

    /// Returns the content if the file was never read or has changed; otherwise nil. A file that is missing or cannot
    /// be read has no servers. Link-local servers with an interface (`fe80::1%eth0`) are left out.
    mutating func change() -> ResolverConfiguration? {
        let current = currentVersion
        guard current != version || current == nil else { return nil }
        version = current
        guard let current, let bytes = try? FileStore().read(current.path, limit: Self.sizeLimit) else {
            return ResolverConfiguration()
        }
        return ResolverConfiguration(resolvConf: String(decoding: bytes, as: UTF8.self)) { IPAddress(text: String($0)) }
    }

    private var currentVersion: Version? {
        var status = stat()
        guard let path = paths.first(where: { stat($0, &status) == 0 }) else { return nil }
        return Version(
            path: path, device: status.st_dev, inode: status.st_ino, size: status.st_size,
            seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }
}
