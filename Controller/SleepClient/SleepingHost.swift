public import DNSWire
public import MulticastDNS
public import ServiceDiscovery

/// A sleep proxy on one link.
public struct FoundSleepProxy: Hashable, Sendable {
    /// The instance name with the metrics.
    public var name: SleepProxyName
    /// The address and the port that receive registrations.
    public var peer: Peer
    /// The interface on which the proxy was found.
    public var interface: InterfaceID

    /// Creates a proxy.
    public init(name: SleepProxyName, peer: Peer, interface: InterfaceID) {
        self.name = name
        self.peer = peer
        self.interface = interface
    }

    /// Sorts the best proxy first. Proxies with equal metrics are sorted by their names, so that a host uses the same
    /// one each time. The addresses of one proxy are sorted: IPv4 first, and link-local IPv4 last, because a host with
    /// a routable address may be unable to reach it.
    public static func sorted(_ proxies: some Sequence<FoundSleepProxy>) -> [FoundSleepProxy] {
        func rank(_ proxy: FoundSleepProxy) -> (String, Int, String) {
            let address = proxy.peer.address
            return (
                proxy.name.name, address.family == .v6 ? 1 : address.isLinkLocal ? 2 : 0, "\(address)"
            )
        }
        return proxies.sorted { left, right in
            if left.name.isBetter(than: right.name) { return true }
            if right.name.isBetter(than: left.name) { return false }
            return rank(left) < rank(right)
        }
    }
}

/// A link of a host that is about to sleep.
public struct SleepingLink: Hashable, Sendable {
    /// The interface.
    public var interface: InterfaceID
    /// The name of the interface, such as "eth0".
    public var name: String
    /// The card that receives the magic packet.
    public var card: MACAddress
    /// The records that the host announces on the link, the address records first.
    public var records: [Record]

    /// Creates a link.
    public init(interface: InterfaceID, name: String, card: MACAddress, records: [Record]) {
        self.interface = interface
        self.name = name
        self.card = card
        self.records = records
    }
}

/// The result of the registration of one link.
public enum SleepOutcome: Hashable, Sendable {
    /// The proxy represents the host for this time.
    case registered(with: SleepProxyName, lease: Duration)
    /// The host announces nothing on the link.
    case nothingAnnounced
    /// The link has no proxy.
    case noProxy
    /// The last proxy refused with this response code.
    case refused(by: SleepProxyName, code: UInt16)
    /// The records do not fit into messages.
    case tooLarge
    /// The last proxy did not answer within the time limit.
    case noAnswer(from: SleepProxyName)
}

extension SleepOutcome: CustomStringConvertible {
    public var description: String {
        switch self {
        case .registered(let proxy, let lease): "registered with the sleep proxy \(proxy.name) for \(lease.inWords)"
        case .nothingAnnounced: "nothing is announced, so no sleep proxy is needed"
        case .noProxy: "no sleep proxy"
        case .refused(let proxy, let code):
            "the sleep proxy \(proxy.name) refused the registration: \(Self.reason(code))"
        case .tooLarge: "the announced records do not fit into a registration"
        case .noAnswer(let proxy): "the sleep proxy \(proxy.name) did not answer"
        }
    }

    private static func reason(_ code: UInt16) -> String {
        switch SleepRegistrationAnswer.Code(rawValue: code) {
        case .formatError: "it could not read the message"
        case .serverFailure: "it cannot check the registration now"
        case .notImplemented: "it accepts no registrations"
        case .refused: "its rules do not permit the registration"
        case .nameExists: "a different host has one of the names"
        case .success, nil: "response code \(code)"
        }
    }
}

extension Duration {
    /// The duration in its two largest units: "2 h 5 min", "4 min 10 s" or "3 s".
    public var inWords: String {
        let seconds = max(0, components.seconds)
        let parts: [(Int64, String)] =
            seconds >= 3600
            ? [(seconds / 3600, "h"), (seconds / 60 % 60, "min")]
            : seconds >= 60 ? [(seconds / 60, "min"), (seconds % 60, "s")] : [(seconds, "s")]
        return parts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
            .map { "\($0.element.0) \($0.element.1)" }.joined(separator: " ")
    }
}
