import DurableFiles

/// Where the dashboard is, and for whom.
public struct DashboardSettings: Sendable {
    /// An address of this machine and a port of TCP; port 0 lets the system choose one.
    public struct Place: Hashable, Sendable, CustomStringConvertible {
        public var host: String
        public var port: Int

        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// As "127.0.0.1:7580" or "[::1]:7580"; nil for what is none.
        public init?(_ text: String) {
            guard let authority = Authority(text), let port = authority.port else { return nil }
            self.init(host: authority.host, port: port)
        }

        public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// A certificate that others trust, and its key, each the path of a file in PEM.
    public struct Certificate: Hashable, Sendable {
        public var chain: String
        public var key: String

        public init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    /// Of the page; nil for none.
    public var place: Place? = Place(host: "127.0.0.1", port: 7580)
    /// The path of the socket for the daemon's own user; nil for none.
    public var socket: String?
    /// Names under which browsers reach us besides the host's own.
    public var hostNames: [String] = []
    /// Where proxies offer the page to others.
    public var external: Set<ExternalAddress> = []
    /// Nil for one that is made and kept in the directory, where one is needed.
    public var certificate: Certificate?
    /// Where keys are kept.
    public var directory = (ServiceDirectories.state ?? UserDirectories.state + "/smartplug") + "/dashboard"
    public var password = PasswordFile(PasswordFile.usualPath)
    var limits = DoorLimits()

    public init() {}

    /// Files that let somebody in, or pass for us: nobody's business but the daemon's.
    public var secretPaths: [String] {
        [password.path, directory + "/tls.pem", directory + "/session-key", directory + "/sessions"]
            + (certificate.map { [$0.key] } ?? [])
    }

    var isLoopback: Bool { place?.isLoopback ?? true }
    /// Nobody else comes to it, so that it may do without a password. What a proxy leads here also comes from this machine.
    var isForThisMachine: Bool { isLoopback && external.isEmpty }
    /// Beyond this machine nothing is said that others on the way could read.
    var isSecure: Bool { certificate != nil || !isLoopback }
}

extension DashboardSettings.Place {
    /// Only this machine can come to it.
    var isLoopback: Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.") && Authority(host)?.isAddress == true
    }
}

/// What keeps a part of the dashboard from working, in words for a person, with a line that begins with `hint:`.
public struct DashboardFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    init(_ error: FileError) { description = "\(error)" + (error.hint.map { "\nhint: \($0)" } ?? "") }
}
