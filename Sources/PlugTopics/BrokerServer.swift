/// The address of a broker.
public struct BrokerServer: Hashable, Sendable {
    /// The host name or IP address.
    public var host: String
    /// The TCP port.
    public var port: Int

    /// Creates an address.
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
        /// The path of the certificate chain.
        public var chain: String
        /// The path of the private key.
        public var key: String

        /// Creates a pair of paths.
        public init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    /// The client id, which no other connection to the broker may use.
    public var client: String
    /// The certificate authorities.
    public var trust: Trust
    /// The client's certificate, if the broker requires one.
    public var certificate: Certificate?
    /// The user name, if the broker requires one.
    public var user: String?
    /// The password of the user, or nil for none.
    public var password: String?
    /// The topic of the retained will, which the broker publishes when the connection ends; nil for no will.
    public var willTopic: String?
    /// The payload of the will.
    public var willText: String

    /// Creates options without certificate, user and password.
    public init(client: String, trust: Trust, willTopic: String? = nil, willText: String = "") {
        self.client = client
        self.trust = trust
        self.willTopic = willTopic
        self.willText = willText
    }
}
