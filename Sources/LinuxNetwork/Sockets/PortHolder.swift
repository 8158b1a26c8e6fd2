import Glibc

/// A program that has a UDP port open.
public struct PortHolder: Hashable, Sendable {
    /// The process; nil if this user cannot inspect the processes of the socket's owner.
    public var process: Process?
    /// The user id of the socket's owner.
    public var user: UInt32

    /// A process.
    public struct Process: Hashable, Sendable {
        /// The process id.
        public var id: Int32
        /// The name that the kernel stores: at most 15 bytes, chosen by the program.
        public var name: String

        /// Creates a process description.
        public init(id: Int32, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// Creates a holder.
    public init(process: Process?, user: UInt32) {
        self.process = process
        self.user = user
    }

    /// Returns the other processes in this network namespace that have the port open, without duplicates.
    public static func others(ofPort port: UInt16) -> [PortHolder] {
        let sockets = SocketEntry.all(onPort: port)
        let owners = owners(of: Set(sockets.map(\.inode)))
        let holders = sockets.compactMap { socket -> PortHolder? in
            guard let owner = owners[socket.inode] else { return PortHolder(process: nil, user: socket.user) }
            return owner == getpid()
                ? nil : PortHolder(process: Process(id: owner, name: name(of: owner)), user: socket.user)
        }
        return Set(holders).sorted { ($0.process?.id ?? 0, $0.user) < ($1.process?.id ?? 0, $1.user) }
    }

    private static func name(of process: Int32) -> String {
        (procFile("/proc/\(process)/comm") ?? "").trimmingSuffix { $0.isNewline }
    }

    /// Returns the process of each socket. Sockets of processes that this user may not inspect are missing.
    private static func owners(of inodes: Set<UInt64>) -> [UInt64: Int32] {
        var owners: [UInt64: Int32] = [:]
        guard !inodes.isEmpty else { return owners }
        for process in entries(of: "/proc").compactMap(Int32.init) {
            for entry in entries(of: "/proc/\(process)/fd") {
                guard let inode = socketInode("/proc/\(process)/fd/\(entry)"), inodes.contains(inode) else { continue }
                // Children that inherit the socket usually have a higher process id than the process that opened it.
                owners[inode] = min(owners[inode] ?? process, process)
            }
        }
        return owners
    }

    private static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    private static func socketInode(_ path: String) -> UInt64? {
        var target = [CChar](repeating: 0, count: 64)
        let count = readlink(path, &target, target.count)
        guard count > 0 else { return nil }
        let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("socket:["), text.hasSuffix("]") else { return nil }
        return UInt64(text.dropFirst("socket:[".count).dropLast())
    }
}

/// A line of /proc/net/udp or /proc/net/udp6.
struct SocketEntry: Hashable {
    var port: UInt16
    var user: UInt32
    var inode: UInt64

    /// Returns the UDP sockets in this network namespace that are bound to the port, of both address families.
    static func all(onPort port: UInt16) -> [SocketEntry] {
        ["/proc/net/udp", "/proc/net/udp6"].flatMap { parse(procFile($0) ?? "") }.filter { $0.port == port }
    }

    /// Parses a table of /proc. Skips lines that do not have the format that the kernel uses since 2.6.
    static func parse(_ text: String) -> [SocketEntry] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, let port = fields[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) }),
                let user = UInt32(fields[7]), let inode = UInt64(fields[9])
            else { return nil }
            return SocketEntry(port: port, user: user, inode: inode)
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ isDropped: (Character) -> Bool) -> String {
        String(reversed().drop(while: isDropped).reversed())
    }
}
