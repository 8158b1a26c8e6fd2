import LinuxNetwork
import NIOCore

/// None of the plug's addresses took the connection.
public struct DialError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Attempt: Hashable, Sendable {
        public var address: String
        public var port: Int
        public var reason: String

        init(address: SocketAddress, error: any Error) {
            self.address = address.ipAddress ?? "\(address)"
            port = address.port ?? 0
            reason = PlugTransport.reason(for: error)
        }
    }

    /// Empty when no address was known.
    public var attempts: [Attempt]

    public var description: String {
        guard !attempts.isEmpty else { return "cannot connect: no address of the plug is known" }
        let list = attempts.map { "\($0.address) port \($0.port): \($0.reason)" }.joined(separator: "; ")
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
