/// The reasons why the discovery did not perform a request, or why the interfaces cannot be monitored.
public enum NetworkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// ``Discovery/stop()`` was called.
    case stopped
    /// The limit of registered services has been reached.
    case tooManyRegistrations(limit: Int)
    /// No host answered for the service within the time limit.
    case notFound(name: String, within: Duration)
    /// The kernel does not report the network interfaces. `code` is its error number.
    case noInterfaces(code: Int32)

    public var description: String {
        switch self {
        case .stopped: "the service discovery has been stopped"
        case .tooManyRegistrations(let limit): "\(limit) services are registered, which is the limit"
        case .notFound(let name, let time): "no answer for \"\(name)\" within \(time)"
        case .noInterfaces(let code): "cannot follow the network interfaces: " + errorText(code)
        }
    }

    /// A hint about what the user can do; nil if there is nothing to suggest.
    public var hint: String? {
        switch self {
        case .stopped: nil
        case .tooManyRegistrations: "cancel a registration first"
        case .notFound: "check the name, and that the device has power and is on this network"
        case .noInterfaces: "check that the sandbox or service unit allows AF_NETLINK sockets"
        }
    }
}
