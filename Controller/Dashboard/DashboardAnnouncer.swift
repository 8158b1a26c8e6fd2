public import LinuxNetwork
public import ServiceDiscovery

/// Announces the dashboard to the network. The discovery withdraws the announcement when it stops.
public actor DashboardAnnouncer {
    private let discovery: Discovery
    private var registration: Registration?

    /// Creates an announcer without an announcement.
    public init(_ discovery: Discovery) { self.discovery = discovery }

    /// Announces the service, or replaces an earlier announcement, for example if the port changed. A service that the
    /// discovery refuses is not announced.
    public func announce(_ service: ServiceRegistration) async {
        if let registration { return await registration.replace(with: service) }
        registration = try? await discovery.register(service)
    }
}
