public import LinuxNetwork
public import Logging
public import ServiceDiscovery

/// Announces the dashboard to the network, and registers it in a domain of a name server if it uses TLS. The discovery
/// withdraws the announcement when it stops.
public actor DashboardAnnouncer {
    private let discovery: Discovery
    private let settings: DashboardSettings
    private let logger: Logger
    private var registration: Registration?
    private var registrar: DomainRegistrar?

    /// Creates an announcer without an announcement.
    public init(_ discovery: Discovery, _ settings: DashboardSettings, logger: Logger) {
        self.discovery = discovery
        self.settings = settings
        self.logger = logger
    }

    /// Announces the service, or replaces an earlier announcement, for example if the port changed. A service that the
    /// discovery refuses is not announced.
    public func announce(_ service: ServiceRegistration) async {
        if let registration {
            await registration.replace(with: service)
        } else {
            registration = try? await discovery.register(service)
        }
        guard let domain = settings.domain, settings.isSecure else { return }
        if let registrar { return await registrar.update(service) }
        registrar = DomainRegistrar(
            service, domain, key: domain.registrationKey(storedIn: settings.directory + "/registration-key", logger),
            discovery: discovery, logger: logger)
    }

    /// Removes the dashboard from the domain. Returns when the server has answered, or after a few seconds.
    public func stop() async { await registrar?.stop() }
}
