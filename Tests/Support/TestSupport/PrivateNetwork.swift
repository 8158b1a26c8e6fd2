import Glibc
public import LinuxNetwork
public import NIOCore
public import NIOPosix

/// A network namespace for a test. The thread of its event loop is in the namespace, and therefore also every socket
/// that the loop opens. The namespace is removed when the thread ends.
public final class PrivateNetwork: Sendable {
    /// The reason why a test is skipped if ``isAvailable`` is false.
    public static let reason = "needs root to create a network namespace"

    /// True if the process can create network namespaces. The process tries this once, because even root may lack the
    /// right in a container.
    public static let isAvailable: Bool = {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { try? group.syncShutdownGracefully() }
        return (try? group.next().submit { try leaveNetworkNamespace() }.wait()) == 0
    }()

    /// The group with the one event loop of the namespace.
    public let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// The one event loop, whose thread is in the namespace.
    public var eventLoop: any EventLoop { group.next() }

    /// Creates the namespace and enables its loopback interface. Throws ``NamespaceFailure``.
    public init() async throws {
        try await group.next().submit {
            guard try leaveNetworkNamespace() == 0 else { throw NamespaceFailure(what: "unshare", code: errno) }
        }.get()
        try await ip("link set lo up")
    }

    deinit { try? group.syncShutdownGracefully() }

    /// Runs `ip` with these arguments, separated by spaces, in the namespace. A child process starts in the namespace
    /// of the thread that creates it. Throws ``NamespaceFailure`` if `ip` fails.
    public func ip(_ arguments: String) async throws {
        try await eventLoop.submit {
            let words = ["ip"] + arguments.split(separator: " ").map(String.init)
            var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
            defer { pointers.forEach { free($0) } }
            var child = pid_t()
            let failure = posix_spawnp(&child, "ip", nil, nil, &pointers, environ)
            guard failure == 0 else { throw NamespaceFailure(what: "ip", code: failure) }
            var status: Int32 = 0
            guard waitpid(child, &status, 0) == child, status == 0 else {
                throw NamespaceFailure(what: "ip \(arguments)", code: status)
            }
        }.get()
    }

    /// Creates two connected interfaces that are up and have usable IPv6 link-local addresses. Disables duplicate
    /// address detection for new interfaces. Throws ``NamespaceFailure``.
    public func connectedPair(_ left: String, _ right: String) async throws {
        try await eventLoop.submit {
            // A path below /proc/sys/net refers to the namespace of the thread that opens it.
            let descriptor = open("/proc/sys/net/ipv6/conf/default/accept_dad", O_WRONLY)
            guard write(descriptor, "0", 1) == 1 else { throw NamespaceFailure(what: "accept_dad", code: errno) }
            close(descriptor)
        }.get()
        try await ip("link add \(left) type veth peer name \(right)")
        try await ip("link set \(left) up")
        try await ip("link set \(right) up")
        try await wait(for: [left, right]) { list in
            list.count == 2 && list.allSatisfy { $0.addresses.contains { $0.isIPv6 && $0.isUsable } }
        }
    }

    /// Waits until `isReady` is true for the list of the interfaces with these names.
    public func wait(for names: Set<String>, until isReady: ([LinuxInterface]) -> Bool) async throws {
        for try await list in InterfaceMonitor.interfaces(.named(names), on: eventLoop) where isReady(list) { return }
    }
}

/// A failed system call or a failed `ip`.
public struct NamespaceFailure: Error {
    /// The name of the call, the file, or `ip` with its arguments.
    public var what: String
    /// An errno, or the wait status of `ip`.
    public var code: Int32
}

/// Calls unshare(CLONE_NEWNET). The C library's module does not export it, because it requires _GNU_SOURCE.
private func leaveNetworkNamespace() throws -> Int32 {
    guard let symbol = dlsym(nil, "unshare") else { throw NamespaceFailure(what: "unshare", code: ENOSYS) }
    let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
    return unshare(0x4000_0000)
}
