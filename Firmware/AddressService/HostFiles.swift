import LinuxNetwork
package import LinuxSystem

/// Finds out from files of the host which program manages an interface. The files are only read.
package struct HostFiles: Sendable {
    private static let limit = 65_536
    private let root: String
    private let files: FileStore
    private let isRunning: @Sendable (Int32) -> Bool

    /// Creates a reader.
    /// - Parameters:
    ///   - root: A prefix for each path. Tests use their own file tree.
    ///   - isRunning: Returns whether a process exists. By default the kernel is queried.
    package init(
        root: String = "", files: FileStore = FileStore(), isRunning: (@Sendable (Int32) -> Bool)? = nil
    ) {
        self.root = root
        self.files = files
        self.isRunning = isRunning ?? { processIsRunning($0) }
    }

    /// Returns the program that manages the interface, with the file that shows it, or nil.
    package func manager(of name: String, index: Int32) -> RoleReason? {
        networkManager(index) ?? networkd(index) ?? dhcpcd(name) ?? connman
    }

    /// Returns true for a network card with a driver, false for a bridge, a tunnel or a virtual pair.
    package func isHardware(_ name: String) -> Bool { isDirectory("/sys/class/net/\(name)/device") }

    /// The names of CAP_NET_ADMIN and CAP_NET_RAW if this process lacks them. Empty if /proc is not readable; the
    /// kernel then reports errors later.
    package var missingCapabilities: [String] {
        guard let line = text("/proc/self/status")?.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
            let set = UInt64(line.dropFirst("CapEff:".count).drop { $0 == "\t" || $0 == " " }, radix: 16)
        else { return [] }
        return [(12, "CAP_NET_ADMIN"), (13, "CAP_NET_RAW")].filter { set >> $0.0 & 1 == 0 }.map(\.1)
    }

    /// NetworkManager has a file per device, which shows whether it manages the device. A device that has no file yet
    /// counts as managed, because NetworkManager will manage it.
    private func networkManager(_ index: Int32) -> RoleReason? {
        let path = "/run/NetworkManager"
        guard isDirectory(path) else { return nil }
        let device = "\(path)/devices/\(index)"
        guard let text = text(device) else { return .manager(.networkManager, evidence: path) }
        let isLeft = text.split(separator: "\n").contains("managed=false")
        return isLeft ? nil : .manager(.networkManager, evidence: device)
    }

    private func networkd(_ index: Int32) -> RoleReason? {
        let path = "/run/systemd/netif/links/\(index)"
        guard let text = text(path) else { return nil }
        let isLeft = text.split(separator: "\n").contains("ADMIN_STATE=unmanaged")
        return isLeft ? nil : .manager(.networkd, evidence: path)
    }

    /// dhcpcd runs for the whole host or for one interface. Before version 9 its pid files are in /run, later in
    /// /run/dhcpcd.
    private func dhcpcd(_ name: String) -> RoleReason? {
        let paths = [
            "/run/dhcpcd/pid", "/run/dhcpcd.pid", "/run/dhcpcd/\(name).pid", "/run/dhcpcd/\(name)-4.pid",
            "/run/dhcpcd-\(name).pid", "/run/dhcpcd-\(name)-4.pid",
        ]
        // A killed dhcpcd leaves its file behind.
        return paths.first(where: isOfProcess).map { .manager(.dhcpcd, evidence: $0) }
    }

    private var connman: RoleReason? {
        isDirectory("/run/connman") ? .manager(.connman, evidence: "/run/connman") : nil
    }

    private func isOfProcess(_ path: String) -> Bool {
        guard let text = text(path), let id = Int32(text.prefix { !$0.isNewline }) else { return false }
        return isRunning(id)
    }

    private func text(_ path: String) -> String? {
        guard let bytes = try? files.readIfPresent(root + path, limit: Self.limit) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func isDirectory(_ path: String) -> Bool { LinuxFileCalls().isDirectory(root + path) }
}
