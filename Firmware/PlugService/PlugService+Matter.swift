import DNSWire
import JSONText
import LinuxNetwork
import Matter
import MatterDoor
import NIOCore
import PlugModel
import PlugProtocol
import ServiceDiscovery
import Storage

/// The Matter device of the plug.
enum MatterState {
    /// No device is configured, the plug is off the network, or the device failed to open.
    case off(fault: String?)
    case on(MatterDoor, [MatterService])

    /// The reason why the device failed to open.
    var fault: String? { if case .off(let fault) = self { fault } else { nil } }
}

/// An announced service of the Matter device.
struct MatterService {
    let registration: Registration
    var service: ServiceRegistration
}

/// Runs the plug as a Matter device, if it is configured.
extension PlugService {
    /// The open device.
    var matter: MatterDoor? { if case .on(let door, _) = matterState { door } else { nil } }

    /// Opens the Matter door. A failure is logged and affects nothing else.
    ///
    /// - Parameter isLocal: returns false for the address of a peer in another network.
    func openMatter(isLocal: @escaping @Sendable (IPAddress) -> Bool) async {
        guard let settings = settings.matter else { return }
        let filter: InterfaceFilter =
            self.settings.interfaces.isEmpty ? .multicastCapable : .named(self.settings.interfaces)
        let interface = await MatterInterface.find(filter, on: loop, plug: machine.identity.id)
        var opened: MatterDoor?
        do {
            let door = try makeMatter(settings, interface)
            opened = door
            // Set before the start, because flash may answer during it.
            matterState = .on(door, [])
            try await door.start(
                loopbackOnly: self.settings.staysOnThisMachine, port: settings.port, interfaces: filter,
                isLocal: isLocal)
            tellMatter()
            announceMatter()
        } catch {
            await opened?.stop()
            matterState = .off(fault: "\(error)")
            logger.error("Matter stays off: \(error)")
        }
    }

    private func makeMatter(_ settings: MatterSettings, _ interface: MatterInterface) throws -> MatterDoor {
        let capabilities = self.settings.appliance.capabilities
        guard capabilities.contains(.relay) else { throw MatterUnusable(reason: "the plug has no relay") }
        let credentials = try MatterCredentials(folder: settings.credentials)
        guard case .read(let records, let line) = storage.matterFiles() else {
            throw MatterUnusable(reason: "its files cannot be used")
        }
        return try MatterDoor(
            MatterPlug(machine.identity.id, capabilities: capabilities, firmware: machine.identity.firmware),
            name: machine.identity.name, label: matterLabel(line, credentials), credentials: credentials,
            interface: interface, records: records, lostPower: lostPower, on: loop, logger: logger,
            asking: MatterDoor.Plug(
                page: { [weak self] cursor, limit in
                    self?.assumeIsolated { $0.machine.journalPage(after: cursor, limit: limit) }
                        ?? JournalPage([], hasMore: false)
                },
                ask: { [weak self] command in self?.assumeIsolated { $0.handle(.server(.asked(command))) } },
                keep: { [weak self] records in
                    self?.assumeIsolated { $0.write(.matter, $0.storage.writing(matter: records)) }
                },
                note: { [weak self] note in self?.assumeIsolated { $0.handle(.noted(note)) } },
                announce: { [weak self] in self?.assumeIsolated { $0.announceMatter() } }))
    }

    /// The label from flash. A new label is used only after flash has stored it, because its code is printed.
    private func matterLabel(_ line: String?, _ credentials: MatterCredentials) throws -> MatterLabel {
        let known = try line.map { line in
            guard let known = MatterLabel(line: line) else { throw MatterUnusable(reason: "its label is damaged") }
            return known
        }
        let (vendor, product) = (credentials.vendor, credentials.product)
        let label = try known?.with(vendor: vendor, product: product) ?? MatterLabel(vendor: vendor, product: product)
        guard label != known else { return label }
        guard storage.keep(matterLabel: label.line) else {
            throw MatterUnusable(reason: "its setup code cannot be written to flash")
        }
        return label
    }

    // MARK: Announcements

    /// Registers new services, updates changed ones and withdraws the others.
    func announceMatter() {
        guard case .on(let door, let services) = matterState, let discovery = presence?.discovery else { return }
        let announced = door.assumeIsolated { (announcements: $0.announcements, port: $0.listeningPort) }
        guard let port = announced.port else { return }
        let wanted = announced.announcements.compactMap { matterService($0, host: door.interface.hostName, port: port) }
        // Discovery runs on the same loop.
        for service in services where !wanted.contains(where: service.service.isSameInstance) {
            discovery.assumeIsolated { $0.cancel(service.registration) }
        }
        var current: [MatterService] = []
        for service in wanted {
            let known = services.first { $0.service.isSameInstance(service) }
            if let known {
                update(known, to: service, discovery)
                current.append(MatterService(registration: known.registration, service: service))
            } else if let registration = registerMatter(service, discovery) {
                current.append(MatterService(registration: registration, service: service))
            }
        }
        matterState = .on(door, current)
    }

    private func update(_ known: MatterService, to service: ServiceRegistration, _ discovery: Discovery) {
        guard known.service != service else { return }
        var withText = known.service
        withText.txt = service.txt
        let isText = withText == service
        discovery.assumeIsolated { discovery in
            if isText {
                discovery.update(known.registration, txt: service.txt)
            } else {
                discovery.replace(known.registration, with: service)
            }
        }
    }

    private func registerMatter(_ service: ServiceRegistration, _ discovery: Discovery) -> Registration? {
        do {
            return try discovery.assumeIsolated { try $0.register(service) }
        } catch {
            logger.error("Matter: \"\(service.name)\" cannot be announced: \(error)")
            return nil
        }
    }

    private func matterService(_ announcement: MatterAnnouncement, host: String, port: UInt16) -> ServiceRegistration? {
        do {
            var txt = TXTRecord()
            for (key, value) in announcement.txt { try txt.set(key, Array(value.utf8)) }
            return try ServiceRegistration(
                name: announcement.name, type: try ServiceType(announcement.type), subtypes: announcement.subtypes,
                hostName: host, port: port, txt: txt)
        } catch {
            logger.error("Matter: \"\(announcement.name)\" cannot be announced: \(error)")
            return nil
        }
    }

    // MARK: The plug

    /// Passes the new state to Matter after every event, except while messages are held.
    func tellMatter() {
        guard let matter, !flash.holdsMessages, !machine.isStopped else { return }
        let (state, name, newest) = (machine.state, machine.identity.name, machine.nextSequence - 1)
        matter.assumeIsolated { $0.look(state, name: name, newest: newest) }
    }

    /// Opens Matter's commissioning window together with the plug's pairing window, which a person opened at the plug.
    func openMatterWindow() { matter?.assumeIsolated { $0.openWindow() } }

    func manageMatter(_ order: MatterRequest, for id: ConnectionID) {
        guard let matter else {
            let reason =
                matterState.fault.map { "Matter stays off: \($0)" }
                ?? "Matter is off; [matter] in plugd.toml turns it on"
            return handle(.server(.matter(id, .failure(Refusal(.unsupported, reason)))))
        }
        // Swift 6.2 cannot compile this closure within the other one.
        let answer: @Sendable (Result<MatterReport, Refusal>) -> Void = { [weak self] result in
            self?.assumeIsolated { $0.handle(.server(.matter(id, result))) }
        }
        matter.assumeIsolated { $0.manage(order, answer: answer) }
    }

    /// The value of `matter` in `plugd status`, or nil if Matter is not configured.
    var matterStatus: JSONObject? {
        guard settings.matter != nil else { return nil }
        if let matter { return matter.assumeIsolated { $0.status } }
        var status = JSONObject()
        status.add("fault", matterState.fault ?? "the plug is off the network")
        return status
    }
}

extension ServiceRegistration {
    /// Returns true if both are the same instance, perhaps with other attributes, subtypes or port.
    fileprivate func isSameInstance(_ other: ServiceRegistration) -> Bool { name == other.name && type == other.type }
}

private struct MatterUnusable: Error, CustomStringConvertible {
    var reason: String
    var description: String { reason }
}
