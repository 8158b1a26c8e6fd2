import DNSWire
import Glibc
public import NIOCore
import NIOPosix
public import ServiceDiscovery
import Synchronization

/// Looks up the addresses of a host name with the resolver of the operating system, which also reads /etc/hosts.
public enum HostLookup {
    /// The maximum number of addresses of a name. Limits the time that a connection attempt needs for a wrong answer.
    private static let addressLimit = 16
    /// The maximum number of lookups that run or wait. Without it, lookups would accumulate while no name server
    /// answers, because a running lookup cannot be cancelled.
    private static let lookupLimit = 64
    private static let pending = Mutex(0)
    /// A lookup blocks its thread until a name server answers.
    private static let threads = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    /// Returns the addresses of a host.
    ///
    /// - Parameters:
    ///   - host: A name, an IPv4 address, or an IPv6 address without brackets. A link-local IPv6 address needs its
    ///     interface, such as fe80::1%eth0.
    ///   - time: The time limit.
    ///   - eventLoop: Measures the time.
    /// - Throws: ``HostLookupError``.
    public static func addresses(
        of host: String, within time: Duration, on eventLoop: any EventLoop
    ) async throws -> [ResolvedService.Address] {
        // The resolver finds the number of the interface that an address names.
        if !host.utf8.contains(UInt8(ascii: "%")), let address = IPAddress(text: host) {
            return [.init(address: address, interface: 0)]
        }
        let hasRoom = pending.withLock { count in
            guard count < lookupLimit else { return false }
            count += 1
            return true
        }
        guard hasRoom else { throw HostLookupError(host: host, reason: "too many lookups wait for an answer") }
        let promise = eventLoop.makePromise(of: [ResolvedService.Address].self)
        let end = eventLoop.scheduleTask(in: .nanoseconds(time.wholeNanoseconds)) {
            promise.fail(HostLookupError(host: host, reason: "no answer within \(time)"))
        }
        threads.submit { _ in
            promise.completeWith(Result { try lookUp(host) })
            pending.withLock { $0 -= 1 }
        }
        defer { end.cancel() }
        return try await promise.futureResult.get()
    }

    private static func lookUp(_ host: String) throws -> [ResolvedService.Address] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else { throw HostLookupError(host: host, reason: String(cString: gai_strerror(code))) }
        var found: [ResolvedService.Address] = []
        var next = list
        while let entry = next?.pointee, found.count < addressLimit {
            next = entry.ai_next
            if let address = address(entry), !found.contains(address) { found.append(address) }
        }
        guard !found.isEmpty else { throw HostLookupError(host: host, reason: "it has no IP address") }
        return found
    }

    private static func address(_ entry: addrinfo) -> ResolvedService.Address? {
        guard let address = UnsafeRawPointer(entry.ai_addr) else { return nil }
        switch entry.ai_family {
        case AF_INET:
            let socket = address.loadUnaligned(as: sockaddr_in.self)
            return withUnsafeBytes(of: socket.sin_addr) { IPAddress(bytes: $0) }
                .map { .init(address: $0, interface: 0) }
        case AF_INET6:
            let socket = address.loadUnaligned(as: sockaddr_in6.self)
            return withUnsafeBytes(of: socket.sin6_addr) { IPAddress(bytes: $0) }
                .map { .init(address: $0, interface: socket.sin6_scope_id) }
        case _: return nil
        }
    }
}

/// The reason why a host name has no address.
public struct HostLookupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let host: String
    /// The reason, as text for the user.
    public let reason: String

    /// The message for the user.
    public var description: String { "cannot look up the address of \"\(host)\": \(reason)" }
}
