public import NIOCore

/// Follows the host's network interfaces through rtnetlink.
public enum InterfaceMonitor {
    /// The interfaces that the filter admits, as a live sequence of whole lists: the first at once, the next whenever
    /// something about one of them changed (name, flags, carrier, addresses). A slow reader sees the newest list, never a queue
    /// of old ones; ``InterfaceChange/changes(from:to:)`` tells what happened in between. It ends when the reader stops, and
    /// throws when the kernel refuses (``InterfaceMonitorError``).
    public static func interfaces(
        _ filter: InterfaceFilter, on eventLoop: any EventLoop
    ) -> AsyncThrowingStream<[LinuxInterface], any Error> {
        let (stream, continuation) = AsyncThrowingStream<[LinuxInterface], any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let shell = NetlinkShell(filter: filter, eventLoop: eventLoop, continuation: continuation)
        continuation.onTermination = { _ in eventLoop.execute { shell.stop() } }
        eventLoop.execute { shell.start() }
        return stream
    }
}

/// Why the interfaces cannot be followed.
public struct InterfaceMonitorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kernel's error number.
    public let code: Int32

    public var description: String { "cannot follow the network interfaces: " + errorText(code) }
    public var hint: String { "check that the sandbox or service unit allows AF_NETLINK sockets" }
}
