/// The address of a broker.
public struct BrokerServer: Hashable, Sendable {
    public var host: String
    public var port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// The address as text for the user.
    public var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The options of all connections to a broker.
public struct BrokerOptions: Hashable, Sendable {
    /// The certificate authorities that authenticate the broker.
    public enum Trust: Hashable, Sendable {
        /// The connection is not encrypted.
        case plain
        /// The certificate authorities of the machine.
        case machine
        /// A file of certificate authorities in PEM.
        case file(String)
    }

    /// The files of the client's own certificate and its private key in PEM.
    public struct Certificate: Hashable, Sendable {
        public var chain: String
        public var key: String

        public init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    /// The client id, which no other connection to the broker may use.
    public var client: String
    public var trust: Trust
    public var certificate: Certificate?
    public var user: String?
    public var password: String?
    /// The topic of the retained will, which the broker publishes when the connection ends; nil for no will.
    public var willTopic: String?
    public var willText: String

    public init(client: String, trust: Trust, willTopic: String? = nil, willText: String = "") {
        self.client = client
        self.trust = trust
        self.willTopic = willTopic
        self.willText = willText
    }
}
