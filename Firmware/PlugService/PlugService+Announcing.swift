import LinuxClocks
import PlugModel
import ProtocolCore
import ServiceDiscovery

/// How the plug is found: under which name, and what its TXT record says.
extension PlugService {
    /// What it is called where nobody gave it a name.
    static func usualName(_ id: PlugID) -> String { "Plug \(id.short)" }

    /// The service under the name that the plug was given. One that cannot be announced, because normalization makes it too long
    /// say, must not keep the plug off the network.
    func ownService() throws(RegistrationError) -> ServiceRegistration {
        let identity = machine.identity
        do throws(RegistrationError) {
            return try service(named: identity.name)
        } catch {
            logger.error("\(error)\nhint: until it has another name it is \"\(Self.usualName(identity.id))\"")
            return try service(named: Self.usualName(identity.id))
        }
    }

    /// Says goodbye for the name that it has and claims another; whoever is connected stays so.
    func announce(as name: String) {
        // Without a network yet it begins with that name.
        guard let registration else { return rename(name) }
        do throws(RegistrationError) {
            let service = try service(named: name)
            // It may be on its way from that name to another.
            guard service.name != wishedName || service.name != machine.identity.name else { return }
            wishedName = service.name
            inOrder { await registration.replace(with: service) }
        } catch {
            logger.error("\(error)\nhint: `plugctl rename` gives it another")
        }
    }

    private func service(named name: String) throws(RegistrationError) -> ServiceRegistration {
        try ServiceRegistration(
            name: name, type: Self.serviceType, subtypes: capabilities.map { "_" + $0 },
            hostName: "plug-" + machine.identity.id.short, port: port, txt: txt)
    }

    /// Those by which a plug is looked for.
    private var capabilities: [String] { settings.appliance.capabilities.map(\.rawValue).sorted() }

    private var txt: TXTRecord {
        do {
            return try TXTRecord([
                "txtvers": "1", "id": machine.identity.id.rawValue, "pv": "\(PlugWire.version)",
                "pair": machine.access.isOpen(at: BootClock.now) ? "1" : "0",
                "caps": capabilities.joined(separator: ","),
            ])
        } catch {
            preconditionFailure("attributes of ours fit a TXT record: \(error)")
        }
    }

    /// Whoever browses sees whether the plug lets itself be paired.
    func announcePairing() {
        guard let registration else { return }
        let txt = txt
        inOrder { await registration.updateTXT(txt) }
    }

    /// Tasks that begin one after the other may else end in another order, and the older change would stand.
    func inOrder(_ change: @escaping @Sendable () async -> Void) {
        let before = announcing
        announcing = Task {
            await before?.value
            await change()
        }
    }
}
