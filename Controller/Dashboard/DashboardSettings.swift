public import LinuxNetwork
import LinuxSystem
public import Presentation
import ProtocolCore

/// The settings of the dashboard: addresses, names, certificate, passwords and limits.
public struct DashboardSettings: Sendable {
    /// An address of this machine and a TCP port. The system chooses the port if it is 0.
    public struct Place: Hashable, Sendable, CustomStringConvertible {
        /// The host name or IP address; an IPv6 address has no brackets.
        public var host: String
        /// The TCP port.
        public var port: Int

        /// Creates a place without checking it.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// Parses "127.0.0.1:7580" or "[::1]:7580"; nil for any other form.
        public init?(_ text: String) {
            guard let authority = Authority(text), let port = authority.port else { return nil }
            self.init(host: authority.host, port: port)
        }

        /// The text that `init(_:)` parses.
        public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// A certificate that browsers trust, and its key. Both are paths of PEM files.
    public struct Certificate: Hashable, Sendable {
        /// The certificate chain.
        public var chain: String
        /// The private key.
        public var key: String

        /// Creates a pair of paths.
        public init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    /// The address of the page; nil if no page is served over TCP.
    public var place: Place? = Place(host: "127.0.0.1", port: 7580)
    /// The path of the local socket for the daemon's own user; nil for none.
    public var socket: String?
    /// Additional host names under which browsers reach the page.
    public var hostNames: [String] = []
    /// The domain of a name server in which the page is registered if it uses TLS; nil for none.
    public var domain: DomainSettings?
    /// The addresses under which proxies offer the page to others.
    public var external: Set<ExternalAddress> = []
    /// The certificate; if nil and TLS is needed, one is created in `directory`.
    public var certificate: Certificate?
    /// The directory of keys and sessions.
    public var directory = (ServiceDirectories.state ?? UserDirectories.state + "/smartplug") + "/dashboard"
    /// The file of the passwords.
    public var password = PasswordFile(PasswordFile.usualPath)
    /// The file with the price of a kWh.
    public var tariff = TariffStore()
    /// The file with the budget per month.
    public var budget = BudgetStore()
    /// True if owners may edit rule files in the dashboard.
    public var mayEditRules = false
    /// The settings of notifications by Web Push.
    public var push = PushSettings()
    var limits = DoorLimits()
    /// Returns the time for the limits of wrong passwords.
    var clock: @Sendable () -> Instant = { BootClock.now }

    /// Creates the default settings: the page at port 7580 of the loopback address, and no local socket.
    public init() {}

    /// Paths of files with secrets: passwords, private keys, sessions and subscriptions. Only the daemon may read them.
    public var secretPaths: [String] {
        let push = PushStore.paths(in: directory)
        return [password.path, directory + "/tls.pem", directory + "/session-key", directory + "/sessions"]
            + [push.key, push.subscriptions] + (certificate.map { [$0.key] } ?? [])
    }

    var isLoopback: Bool { place?.isLoopback ?? true }
    /// True if only this machine reaches the page, so that no password is needed. Requests through a proxy also come
    /// from this machine, so an external address makes it false.
    var isForThisMachine: Bool { isLoopback && external.isEmpty }
    /// True if TLS is used: if a certificate is configured, or if other machines can reach the address.
    var isSecure: Bool { certificate != nil || !isLoopback }
}

extension DashboardSettings.Place {
    /// True if only this machine can connect to the address.
    var isLoopback: Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.") && Authority(host)?.isAddress == true
    }
}

/// A fault that keeps a part of the dashboard from working. The text is for users; a hint is a line that begins with
/// `hint:`.
public struct DashboardFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message, with an optional `hint:` line.
    public let description: String

    init(_ description: String) { self.description = description }

    init(_ error: FileError) { description = "\(error)" + (error.hint.map { "\nhint: \($0)" } ?? "") }
}
