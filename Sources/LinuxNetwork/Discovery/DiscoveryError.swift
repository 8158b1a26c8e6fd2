/// Why the discovery did not perform a request.
public enum DiscoveryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// ``Discovery/stop()`` was called.
    case stopped
    /// The limit of registered services has been reached.
    case tooManyRegistrations(limit: Int)
    /// No host answered for the service within the time limit.
    case notFound(name: String, within: Duration)

    public var description: String {
        switch self {
        case .stopped: "the service discovery has been stopped"
        case .tooManyRegistrations(let limit): "\(limit) services are registered, which is the limit"
        case .notFound(let name, let time): "no answer for \"\(name)\" within \(time)"
        }
    }

    /// A hint about what the user can do; nil if there is nothing to suggest.
    public var hint: String? {
        switch self {
        case .stopped: nil
        case .tooManyRegistrations: "cancel a registration first"
        case .notFound: "check the name, and that the device has power and is on this network"
        }
    }
}
