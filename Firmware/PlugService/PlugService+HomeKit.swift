import HomeKit
public import HomeKitDoor
import JSONText
import PlugModel
import PlugProtocol
import PlugTransport
import ServiceDiscovery
import Storage

/// How the plug is used by HomeKit.
public struct HomeKitSettings: Hashable, Sendable {
    /// Nil: a light bulb where the plug dims, an outlet where not.
    public var shape: PlugAccessory.Shape?
    /// TCP port; 0: one that follows from the plug's id, or of the kernel's choice where that is taken.
    public var port: UInt16

    public init(shape: PlugAccessory.Shape? = nil, port: UInt16 = 0) {
        self.shape = shape
        self.port = port
    }
}

/// The plug as a HomeKit accessory, where its configuration says so.
extension PlugService {
    static let homeKitType: ServiceType = "_hap._tcp"

    /// A door that cannot be opened keeps nothing else from working.
    func openHomeKit() async {
        guard let settings = settings.homeKit else { return }
        do {
            let door = try makeHomeKit(settings)
            // Before its start, since flash may answer while that is under way.
            homeKit = door
            let port = try await listen(door, settings)
            tellHomeKit()
            let service = try homeKitService(door, port: port)
            homeKitPlace = (try await discovery?.register(service), port, service.name)
            // It may have been paired, or renamed, while that was under way.
            announceHomeKit()
        } catch {
            homeKit = nil
            homeKitFault = "\(error)"
            logger.error("HomeKit stays off: \(error)")
        }
    }

    /// Controllers do not all notice that a port is another one, so it stays the same where it can.
    private func listen(_ door: HomeKitDoor, _ settings: HomeKitSettings) async throws(ListenError) -> UInt16 {
        let isLocal = self.settings.staysOnThisMachine
        guard settings.port == 0 else { return try await door.start(loopbackOnly: isLocal, port: settings.port) }
        let usual = HomeKitDoor.usualPort(of: machine.identity.id)
        do throws(ListenError) {
            return try await door.start(loopbackOnly: isLocal, port: usual)
        } catch {
            return try await door.start(loopbackOnly: isLocal, port: 0)
        }
    }

    private func makeHomeKit(_ settings: HomeKitSettings) throws -> HomeKitDoor {
        let capabilities = self.settings.appliance.capabilities
        let accessory = PlugAccessory(
            machine.identity.id, settings.shape ?? (capabilities.contains(.dimmer) ? .lightbulb : .outlet),
            capabilities: capabilities, firmware: machine.identity.firmware)
        guard case .read(let records, let line) = storage.homeKitFiles() else {
            throw HomeKitUnusable(reason: "its files cannot be used")
        }
        return try HomeKitDoor(
            accessory, label: homeKitLabel(line, accessory.category), records: records, on: loop, logger: logger,
            asking: HomeKitDoor.Plug(
                page: { [weak self] cursor, limit in
                    self?.assumeIsolated { $0.machine.journalPage(after: cursor, limit: limit) }
                        ?? JournalPage([], hasMore: false)
                },
                ask: { [weak self] command in self?.assumeIsolated { $0.handle(.asked(command)) } },
                keep: { [weak self] records in
                    self?.assumeIsolated { $0.write(.homeKit, $0.storage.writing(homeKit: records)) }
                },
                note: { [weak self] note in self?.assumeIsolated { $0.handle(.noted(note)) } },
                announce: { [weak self] in self?.assumeIsolated { $0.announceHomeKit() } }))
    }

    /// As flash has it. A new one is used only where flash takes it, since it is printed.
    private func homeKitLabel(_ line: String?, _ category: HomeKitCategory) throws -> HomeKitLabel {
        let known = try line.map { line in
            guard let known = HomeKitLabel(line: line) else { throw HomeKitUnusable(reason: "its label is damaged") }
            return known
        }
        let label = known?.with(category) ?? HomeKitLabel(category)
        guard label != known else { return label }
        guard storage.keep(homeKitLabel: label.line) else {
            throw HomeKitUnusable(reason: "flash does not take its setup code")
        }
        return label
    }

    private func homeKitService(_ door: HomeKitDoor, port: UInt16) throws -> ServiceRegistration {
        var txt = TXTRecord()
        for (key, value) in door.assumeIsolated({ $0.announcement.attributes }) {
            try txt.set(key, Array(value.utf8))
        }
        return try ServiceRegistration(
            name: machine.identity.name, type: Self.homeKitType, hostName: "plug-" + machine.identity.id.short,
            port: port, txt: txt)
    }

    /// Whether it is paired, its shape, or its name is another.
    func announceHomeKit() {
        guard let door = homeKit, let (registration, port, name) = homeKitPlace, let registration else { return }
        guard let service = try? homeKitService(door, port: port) else { return }
        homeKitPlace?.name = service.name
        inOrder {
            if service.name == name {
                await registration.updateTXT(service.txt)
            } else {
                await registration.replace(with: service)
            }
        }
    }

    /// After everything that happens. While nobody is told anything, HomeKit is not either.
    func tellHomeKit() {
        guard let homeKit, held == nil, !machine.isStopped else { return }
        let (state, name, newest) = (machine.state, machine.identity.name, machine.nextSequence - 1)
        homeKit.assumeIsolated { $0.look(state, name: name, newest: newest) }
        if let place = homeKitPlace, place.name != name { announceHomeKit() }
    }

    func manageHomeKit(_ order: HomeKitOrder, for id: ConnectionID) {
        guard let homeKit else {
            let reason =
                homeKitFault.map { "HomeKit stays off: \($0)" } ?? "HomeKit is off; [homekit] in plugd.toml turns it on"
            return handle(.homeKit(id, .failure(Refusal(.unsupported, reason))))
        }
        homeKit.assumeIsolated {
            $0.manage(order) { [weak self] result in self?.assumeIsolated { $0.handle(.homeKit(id, result)) } }
        }
    }

    /// For `plugd status`.
    var homeKitStatus: JSONObject? {
        guard settings.homeKit != nil else { return nil }
        if let homeKit { return homeKit.assumeIsolated { $0.status } }
        var status = JSONObject()
        status.add("fault", homeKitFault ?? "the plug is off the network")
        return status
    }
}

private struct HomeKitUnusable: Error, CustomStringConvertible {
    var reason: String
    var description: String { reason }
}
