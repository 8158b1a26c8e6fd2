/// Why the discovery did not do what was asked.
public enum DiscoveryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// ``Discovery/stop()`` was called.
    case stopped
    /// As many services are registered as the limit allows.
    case tooManyRegistrations(limit: Int)
    /// Nobody answered for the service within the time.
    case notFound(name: String, within: Duration)

    public var description: String {
        switch self {
        case .stopped: "the service discovery has been stopped"
        case .tooManyRegistrations(let limit): "\(limit) services are registered, which is the limit"
        case .notFound(let name, let time): "nobody answered for \"\(name)\" within \(time)"
        }
    }

    public var hint: String? {
        switch self {
        case .stopped: nil
        case .tooManyRegistrations: "cancel a registration first"
        case .notFound: "check the name, and that the device has power and is on this network"
        }
    }
}
