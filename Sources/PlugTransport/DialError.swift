import LinuxNetwork
import NIOCore
public import PlugModel

/// No connection to the plug came about.
public struct DialError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Attempt: Hashable, Sendable {
        public var address: String
        public var port: Int
        public var failure: Failure

        init(address: SocketAddress, _ failure: Failure) {
            self.address = address.ipAddress ?? "\(address)"
            port = address.port ?? 0
            self.failure = failure
        }
    }

    public enum Failure: Hashable, Sendable, CustomStringConvertible {
        /// Nobody took the connection, for this reason.
        case unreachable(String)
        /// Somebody did, and no secured connection came of it.
        case handshake(String)
        /// Somebody did who has this key instead of the expected one. Nothing was sent.
        case otherKey(PublicKey)

        public var description: String {
            switch self {
            case .unreachable(let reason), .handshake(let reason): reason
            case .otherKey: "it is not the plug that was paired: its key is another"
            }
        }

        init(_ error: HandshakeError) {
            self =
                switch error {
                case .otherKey(let key): .otherKey(key)
                case .otherProtocol: .handshake("it speaks another protocol than \(TLSSettings.applicationProtocol)")
                case .noKey: .handshake("it showed no key that can be remembered")
                case .closed: .handshake("it closed the connection before it was secured")
                case .timedOut: .handshake("no answer to the TLS handshake")
                case .failed(let reason): .handshake(reason)
                }
        }
    }

    /// In the order in which they ended. Empty when no address was known.
    public var attempts: [Attempt]

    public var description: String {
        guard !attempts.isEmpty else { return "cannot connect: no address of the plug is known" }
        let list = attempts.map { "\($0.address) port \($0.port): \($0.failure)" }.joined(separator: "; ")
        return "cannot connect to \(list)"
    }
}

/// Why a socket failed, in words for a person: the kernel's, without the name of the call that failed.
func reason(for error: any Error) -> String {
    switch error {
    case let error as IOError: errorText(error.errnoCode)
    case ChannelError.connectTimeout: "no answer"
    default: "\(error)"
    }
}
