import LinuxNetwork
import NIOCore
public import PlugModel

/// The error of a connection attempt to a plug, with a failure per address.
public struct DialError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A failed attempt at one address.
    public struct Attempt: Hashable, Sendable {
        /// The IP address.
        public var address: String
        /// The TCP port.
        public var port: Int
        /// The reason of the failure.
        public var failure: Failure

        init(address: SocketAddress, _ failure: Failure) {
            self.address = address.ipAddress ?? "\(address)"
            port = address.port ?? 0
            self.failure = failure
        }
    }

    /// The reason why an attempt failed.
    public enum Failure: Hashable, Sendable, CustomStringConvertible {
        /// No TCP connection was established, for this reason.
        case unreachable(String)
        /// The TCP connection was established, but the TLS handshake failed.
        case handshake(String)
        /// The peer has this key instead of the expected one. No data was sent to it.
        case otherKey(PublicKey)

        public var description: String {
            switch self {
            case .unreachable(let reason), .handshake(let reason): reason
            case .otherKey: "the device has a different key than the paired plug"
            }
        }

        init(_ error: HandshakeError) {
            self =
                switch error {
                case .otherKey(let key): .otherKey(key)
                case .otherProtocol:
                    .handshake("the device does not use the protocol \(TLSSettings.applicationProtocol)")
                case .noKey: .handshake("the device presented no usable key")
                case .closed: .handshake("the connection was closed during the TLS handshake")
                case .timedOut: .handshake("no answer to the TLS handshake")
                case .failed(let reason): .handshake(reason)
                }
        }
    }

    /// The attempts in the order in which they ended. Empty if no address was known.
    public var attempts: [Attempt]

    public var description: String {
        guard !attempts.isEmpty else { return "cannot connect: no address of the plug is known" }
        let list = attempts.map { "\($0.address) port \($0.port): \($0.failure)" }.joined(separator: "; ")
        return "cannot connect to \(list)"
    }
}

/// Returns the reason of a socket error as text for a user: the kernel's text without the name of the system call.
func reason(for error: any Error) -> String {
    switch error {
    case ChannelError.connectTimeout: "no answer"
    default: errorText(error)
    }
}
