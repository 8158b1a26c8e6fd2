public import NIOCore

/// Monitors the host's network interfaces through rtnetlink.
public enum InterfaceMonitor {
    /// Returns the interfaces that the filter admits, as a sequence of complete lists: the first one immediately, then
    /// one after each change of an interface (name, flags, carrier, addresses). Only the newest unread list is
    /// buffered; ``InterfaceChange/changes(from:to:)`` returns the differences between two lists. The sequence ends
    /// when the reader stops, and throws ``NetworkError/noInterfaces(code:)`` if the kernel refuses to list the
    /// interfaces.
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
