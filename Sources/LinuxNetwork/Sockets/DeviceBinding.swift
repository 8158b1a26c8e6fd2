import Glibc
package import NIOCore

extension Channel {
    /// Lets a socket send and receive only on one interface (SO_BINDTODEVICE). The future fails if the interface does not
    /// exist.
    package func bind(toInterface name: String) -> EventLoopFuture<Void> {
        // The kernel's ifreq, of which this option reads only the name.
        var request = ifreq()
        withUnsafeMutableBytes(of: &request) { $0.copyBytes(from: name.utf8.prefix(Int(IFNAMSIZ) - 1)) }
        guard let options = self as? any SocketOptionProvider else {
            return eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        return options.unsafeSetSocketOption(
            level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_BINDTODEVICE), value: request)
    }
}
