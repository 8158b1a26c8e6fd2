import HomeKit
public import HomeKitDoor
import JSONText
import LinuxNetwork
import NIOCore
import PlugModel
import PlugProtocol
import PlugTransport
import ServiceDiscovery
import Storage

/// The configuration of the HomeKit accessory.
public struct HomeKitSettings: Hashable, Sendable {
    /// The kind of accessory, or nil for a light bulb if the plug dims and an outlet otherwise.
    public var shape: PlugAccessory.Shape?
    /// The TCP port. 0 selects a port that is derived from the plug's id, or any free port if that one is in use.
    public var port: UInt16

    /// Creates the settings.
    public init(shape: PlugAccessory.Shape? = nil, port: UInt16 = 0) {
        self.shape = shape
        self.port = port
    }
}

/// The HomeKit accessory of the plug.
enum HomeKitState {
    /// No accessory is configured, the plug is off the network, or the accessory failed to open.
    case off(fault: String?)
    case on(HomeKitDoor, place: Place?)

    /// The announcement of the accessory.
    struct Place {
        /// Nil while the plug is not announced.
        let registration: Registration?
        let port: UInt16
        var name: String
    }

    /// The reason why the accessory failed to open.
    var fault: String? { if case .off(let fault) = self { fault } else { nil } }
}

/// Runs the plug as a HomeKit accessory, if it is configured.
extension PlugService {
    /// The open accessory.
    var homeKit: HomeKitDoor? { if case .on(let door, _) = homeKitState { door } else { nil } }

    static let homeKitType: ServiceType = "_hap._tcp"

    /// Opens the HomeKit door. A failure is logged and affects nothing else.
    ///
    /// - Parameter isLocal: returns false for the address of a peer in another network.
    func openHomeKit(isLocal: @escaping @Sendable (SocketAddress) -> Bool) async {
        guard let settings = settings.homeKit else { return }
        do {
            let door = try makeHomeKit(settings)
            // Set before the start, because flash may answer during it.
            homeKitState = .on(door, place: nil)
            let port = try await listen(door, settings, isLocal)
            tellHomeKit()
            let service = try homeKitService(door, port: port)
            let registration = try await presence?.discovery.register(service)
            homeKitState = .on(
                door, place: HomeKitState.Place(registration: registration, port: port, name: service.name))
            // A pairing or a new name may have arrived in the meantime.
            announceHomeKit()
        } catch {
            homeKitState = .off(fault: "\(error)")
            logger.error("HomeKit stays off: \(error)")
        }
    }

    /// Opens the port. Some controllers do not notice a changed port, so it stays the same if possible.
    private func listen(
        _ door: HomeKitDoor, _ settings: HomeKitSettings, _ isLocal: @escaping @Sendable (SocketAddress) -> Bool
    ) async throws(ListenError) -> UInt16 {
        let loopbackOnly = self.settings.staysOnThisMachine
        let port = settings.port == 0 ? HomeKitDoor.usualPort(of: machine.identity.id) : settings.port
        do throws(ListenError) {
            return try await door.start(loopbackOnly: loopbackOnly, port: port, isLocal: isLocal)
        } catch {
            guard settings.port == 0 else { throw error }
            return try await door.start(loopbackOnly: loopbackOnly, port: 0, isLocal: isLocal)
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
                ask: { [weak self] command in self?.assumeIsolated { $0.handle(.server(.asked(command))) } },
                keep: { [weak self] records in
                    self?.assumeIsolated { $0.write(.homeKit, $0.storage.writing(homeKit: records)) }
                },
                note: { [weak self] note in self?.assumeIsolated { $0.handle(.noted(note)) } },
                announce: { [weak self] in self?.assumeIsolated { $0.announceHomeKit() } }))
    }

    /// The label from flash. A new label is used only after flash has stored it, because its code is printed.
    private func homeKitLabel(_ line: String?, _ category: HomeKitCategory) throws -> HomeKitLabel {
        let known = try line.map { line in
            guard let known = HomeKitLabel(line: line) else { throw HomeKitUnusable(reason: "its label is damaged") }
            return known
        }
        let label = known?.with(category) ?? HomeKitLabel(category)
        guard label != known else { return label }
        guard storage.keep(homeKitLabel: label.line) else {
            throw HomeKitUnusable(reason: "its setup code cannot be written to flash")
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

    /// Updates the announcement after a change of the pairings or of the name.
    func announceHomeKit() {
        guard case .on(let door, var place?) = homeKitState, let registration = place.registration,
            let service = try? homeKitService(door, port: place.port)
        else { return }
        let isRenamed = service.name != place.name
        place.name = service.name
        homeKitState = .on(door, place: place)
        announcements.add {
            if !isRenamed {
                await registration.updateTXT(service.txt)
            } else {
                await registration.replace(with: service)
            }
        }
    }

    /// Passes the new state to HomeKit after every event, except while messages are held.
    func tellHomeKit() {
        guard let homeKit, !flash.holdsMessages, !machine.isStopped else { return }
        let (state, name, newest) = (machine.state, machine.identity.name, machine.nextSequence - 1)
        homeKit.assumeIsolated { $0.look(state, name: name, newest: newest) }
        if case .on(_, let place?) = homeKitState, place.name != name { announceHomeKit() }
    }

    func manageHomeKit(_ order: HomeKitRequest, for id: ConnectionID) {
        guard let homeKit else {
            let reason =
                homeKitState.fault.map { "HomeKit stays off: \($0)" }
                ?? "HomeKit is off; [homekit] in plugd.toml turns it on"
            return handle(.server(.homeKit(id, .failure(Refusal(.unsupported, reason)))))
        }
        // Swift 6.2 cannot compile this closure within the other one.
        let answer: @Sendable (Result<HomeKitReport, Refusal>) -> Void = { [weak self] result in
            self?.assumeIsolated { $0.handle(.server(.homeKit(id, result))) }
        }
        homeKit.assumeIsolated { $0.manage(order, answer: answer) }
    }

    /// The value of `homekit` in `plugd status`, or nil if HomeKit is not configured.
    var homeKitStatus: JSONObject? {
        guard settings.homeKit != nil else { return nil }
        if let homeKit { return homeKit.assumeIsolated { $0.status } }
        var status = JSONObject()
        status.add("fault", homeKitState.fault ?? "the plug is off the network")
        return status
    }
}

private struct HomeKitUnusable: Error, CustomStringConvertible {
    var reason: String
    var description: String { reason }
}
