import DNSWire
import Glibc
import LinuxSystem
import MulticastDNS
import UnicastDNS

/// The list of name servers in resolv.conf(5).
struct ResolverFile {
    private static let path = "/etc/resolv.conf"
    /// The limit of the file's size. A usual file has a few hundred bytes.
    private static let sizeLimit = 64 << 10

    /// The properties that change when a program replaces or writes the file.
    private struct Version: Hashable {
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let seconds: time_t
        let nanoseconds: Int
    }

    private var version: Version?

    /// Returns the content if the file was never read or has changed; otherwise nil. A file that is missing or cannot
    /// be read has no servers. Link-local servers with an interface (`fe80::1%eth0`) are left out.
    mutating func change() -> ResolverConfiguration? {
        let current = Self.currentVersion
        guard current != version || current == nil else { return nil }
        version = current
        guard let bytes = try? FileStore().read(Self.path, limit: Self.sizeLimit) else {
            return ResolverConfiguration()
        }
        return ResolverConfiguration(resolvConf: String(decoding: bytes, as: UTF8.self)) { IPAddress(text: String($0)) }
    }

    private static var currentVersion: Version? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Version(
            device: status.st_dev, inode: status.st_ino, size: status.st_size, seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }
}
