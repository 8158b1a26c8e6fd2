import LinuxSystem
import PlugModel
import ProtocolCore
import ServiceDiscovery

/// Announces the plug by DNS-SD: its name and its TXT record.
extension PlugService {
    /// The default name of a plug.
    static func usualName(_ id: PlugID) -> String { "Plug \(id.short)" }

    /// The service with the plug's name. If that name cannot be registered, for example because normalization makes it
    /// too long, the default name is used so that the plug stays reachable.
    func ownService() throws(RegistrationError) -> ServiceRegistration {
        let identity = machine.identity
        do throws(RegistrationError) {
            return try service(named: identity.name)
        } catch {
            logger.error(
                "\(error)\nhint: until the name is changed, the plug is announced as \"\(Self.usualName(identity.id))\""
            )
            return try service(named: Self.usualName(identity.id))
        }
    }

    /// Removes the previous name from the network and claims a new one. Existing connections continue.
    func announce(as name: String) {
        // Before the registration exists, the name applies at once, and the registration will use it.
        guard let registration = presence?.registration else { return rename(name) }
        do throws(RegistrationError) {
            let service = try service(named: name)
            guard presence?.request(service.name, current: machine.identity.name) == true else { return }
            announcements.add { await registration.replace(with: service) }
        } catch {
            logger.error("\(error)\nhint: choose a different name with `plugctl rename`")
        }
    }

    /// - Parameter hostName: the first label of the host's name; nil for that of the local network.
    func service(named name: String, hostName: String? = nil) throws(RegistrationError) -> ServiceRegistration {
        try ServiceRegistration(
            name: name, type: Self.serviceType, subtypes: capabilities.map { "_" + $0 },
            hostName: hostName ?? "plug-" + machine.identity.id.short, port: presence?.listener.port ?? 0, txt: txt)
    }

    /// The subtypes by which clients browse for capabilities.
    private var capabilities: [String] { settings.appliance.capabilities.map(\.rawValue).sorted() }

    private var txt: TXTRecord {
        do {
            return try TXTRecord([
                "txtvers": "1", "id": machine.identity.id.rawValue, "pv": "\(PlugWire.version)",
                "pair": machine.access.isOpen(at: BootClock.now) ? "1" : "0",
                "caps": capabilities.joined(separator: ","),
            ])
        } catch {
            preconditionFailure("the attributes do not fit a TXT record: \(error)")
        }
    }

    /// Updates the TXT record, which shows whether the pairing window is open.
    func announcePairing() {
        guard let registration = presence?.registration else { return }
        let txt = txt
        announcements.add { await registration.updateTXT(txt) }
    }
}
