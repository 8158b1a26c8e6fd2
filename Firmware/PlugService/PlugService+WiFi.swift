import AddressService
import DNSWire
import JSONText
import PlugModel
import Storage
import WiFi
import WiFiService

/// Joins Wi-Fi networks, if the configuration names a radio.
extension PlugService {
    /// Starts to talk to the program that drives the radio.
    func openWiFi() {
        guard let settings = settings.wiFi else { return }
        var networks = WiFiNetworks(country: settings.country)
        if let line = storage.wiFiLine() {
            if let known = WiFiNetworks(line: line) {
                networks = known
            } else {
                logger.error("the stored Wi-Fi networks are not valid; set up Wi-Fi again")
            }
        }
        let interface = settings.interface
        let service = WiFiService(
            settings, label: wiFiLabel, networks: networks, runtime: self.settings.directories.runtime, on: loop,
            logger: logger,
            asking: WiFiService.Plug(
                keep: { [weak self] networks in
                    self?.assumeIsolated { $0.write(.wiFi, $0.storage.writing(wiFi: networks.line)) }
                },
                serve: { [weak self] address in
                    self?.assumeIsolated { service in
                        service.addressing?.assumeIsolated {
                            $0.serve(address, prefixLength: AccessPointLeases.prefixLength, on: interface)
                        } ?? false
                    } ?? false
                },
                fix: { [weak self] address in
                    self?.assumeIsolated { service in
                        let configured = service.settings.fixedAddresses[interface]
                        service.addressing?.assumeIsolated { $0.fix(address ?? configured, on: interface) }
                    }
                }))
        wiFi = service
        tellCable()
        service.assumeIsolated { $0.start() }
    }

    /// The identity of the plug's own network. Without a readable label, its password is unknown.
    private var wiFiLabel: WiFiMachine.Label {
        var random = SystemRandomNumberGenerator()
        return WiFiMachine.Label(
            plug: machine.identity.id, code: storage.labelCode ?? SetupCode(drawnFrom: &random))
    }

    /// Passes on whether an interface other than the radio's one has a link.
    func tellCable() {
        guard let wiFi, let interface = settings.wiFi?.interface, let addressing else { return }
        let hasCable = addressing.assumeIsolated { $0.hasLink(besides: interface) }
        wiFi.assumeIsolated { $0.update(hasCable: hasCable) }
    }

    /// Passes on whether a controller is connected. Called after every event.
    func tellWiFi() {
        let hasSessions = !connections.isEmpty
        wiFi?.assumeIsolated { $0.update(hasSessions: hasSessions) }
    }

    /// The value of `wifi` in `plugd status`, or nil if no radio is configured.
    var wiFiStatus: JSONObject? {
        guard let report = wiFi?.assumeIsolated({ $0.report }) else { return nil }
        var status = JSONObject()
        switch report.phase {
        case .off: status.add("phase", "off")
        case .searching, .unknown: status.add("phase", "searching")
        case .joined(let link):
            status.add("phase", "joined")
            status.add("network", "\(link.name)")
        case .trying(let name):
            status.add("phase", "trying")
            status.add("network", "\(name)")
        case .setup: status.add("phase", "setup")
        }
        if let failure = report.failure { status.add("failure", failure.reason.rawValue) }
        return status
    }

    /// Performs an owner's request about Wi-Fi.
    func manageWiFi(_ order: WiFiRequest, for id: ConnectionID) {
        guard let wiFi else {
            let reason = "the plug does not join Wi-Fi networks; [wifi] in plugd.toml turns that on"
            return handle(.server(.wiFi(id, .failure(Refusal(.unsupported, reason)))))
        }
        // Swift 6.2 cannot compile this closure within the other one.
        let answer: @Sendable (Result<WiFiReport, Refusal>) -> Void = { [weak self] result in
            self?.assumeIsolated { $0.handle(.server(.wiFi(id, result))) }
        }
        wiFi.assumeIsolated { $0.manage(order, answer: answer) }
    }
}
