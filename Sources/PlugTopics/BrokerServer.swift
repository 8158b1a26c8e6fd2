/// A broker, and how this program proves itself to it.
public struct BrokerServer: Hashable, Sendable {
    public var host: String
    public var port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// For a person.
    public var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// How all connections to a broker are opened.
public struct BrokerOptions: Hashable, Sendable {
    /// Who vouches for the broker.
    public enum Trust: Hashable, Sendable {
        /// The connection is not encrypted.
        case plain
        /// Certificates that the machine trusts.
        case machine
        /// A file of certificates, PEM.
        case file(String)
    }

    /// Files of the client's own certificate and its private key, PEM.
    public struct Certificate: Hashable, Sendable {
        public var chain: String
        public var key: String

        public init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    /// The name of the session at the broker: no other connection may have it.
    public var client: String
    public var trust: Trust
    public var certificate: Certificate?
    public var user: String?
    public var password: String?
    /// Retained; the broker publishes it when the connection ends. Nil: it publishes nothing.
    public var willTopic: String?
    public var willText: String

    public init(client: String, trust: Trust, willTopic: String? = nil, willText: String = "") {
        self.client = client
        self.trust = trust
        self.willTopic = willTopic
        self.willText = willText
    }
}
