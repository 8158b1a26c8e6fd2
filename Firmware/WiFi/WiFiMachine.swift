public import AddressConfiguration
public import PlugModel
public import ProtocolCore

/// Joins Wi-Fi networks with wpa_supplicant, and opens the plug's own network for its setup.
///
/// The machine talks to wpa_supplicant in the text commands of its control interface, one command at a time. A network is
/// stored only after the plug has joined it. The plug's own network opens if no network is stored, after several minutes
/// without a known one, and when an owner requests it; a plug with a cable needs it only on request.
public struct WiFiMachine: Machine, Sendable {
    /// The inputs.
    public enum Event: MachineEvent, Sendable {
        case deadlineReached
        /// The first event.
        case started
        /// The result of ``Action/open``.
        case socketOpened(Bool)
        /// A datagram of wpa_supplicant.
        case received(String)
        /// The socket failed, because wpa_supplicant ended.
        case socketFailed
        /// An owner's request, answered by ``Action/answer(_:_:)`` with the same number.
        case requested(WiFiRequest, UInt64)
        /// The setup page requests to join a network, with the plug's address in it; nil for one from a DHCP server.
        case submitted(WiFiNetwork, country: WiFiCountry?, address: FixedAddress?)
        /// A browser uses the setup page.
        case visited
        /// The button requests the setup.
        case setupRequested
        /// Another interface has a link, or none has.
        case wired(Bool)
        /// The result of ``Action/keep(_:)``.
        case kept(Bool)
        /// Controllers have sessions, or none has one any more.
        case sessions(Bool)
    }

    /// The outputs, performed in order.
    public enum Action: Hashable, Sendable {
        /// Opens the socket of wpa_supplicant's control interface. ``Event/socketOpened(_:)`` follows.
        case open
        /// Closes the socket.
        case close
        /// Sends a command, which may contain a password.
        case send(String)
        /// Writes ``WiFiNetworks/line`` to flash. ``Event/kept(_:)`` follows.
        case keep(WiFiNetworks)
        /// The interface has the plug's own network, whose guests need addresses and the setup page, or not any more.
        case serve(Bool)
        /// The interface has this address in the network that it has joined; nil for one from a DHCP server.
        case address(FixedAddress?)
        case answer(UInt64, Result<WiFiReport, Refusal>)
        case notice(Notice)
    }

    /// Messages for the log.
    public enum Notice: Hashable, Sendable {
        case joined(WiFiName, accessPoint: String)
        case lost(WiFiName)
        case trying(WiFiName)
        case failed(WiFiReport.Failure)
        case setupOpened(WiFiName)
        case setupClosed
        /// wpa_supplicant does not answer, or ended.
        case supplicantMissing
        /// wpa_supplicant refused a command; the text has no password.
        case refused(command: String)
    }

    /// The identity of the plug's own network.
    public struct Label: Hashable, Sendable {
        /// The name of the network.
        public var name: WiFiName
        /// Its password.
        public var password: WiFiPassword

        /// Creates an identity.
        public init(name: WiFiName, password: WiFiPassword) { (self.name, self.password) = (name, password) }
    }

    /// The time without a known network after which the plug opens its own one.
    static let patience = Duration.seconds(300)
    /// This time for a network whose password has changed.
    static let patienceWithWrongPassword = Duration.seconds(60)
    /// How long the plug's own network stays open while known networks are out of reach.
    static let setupTurn = Duration.seconds(300)
    /// How long it stays open on request, if networks are stored.
    static let setupOnRequest = Duration.seconds(900)
    /// The time until a trial begins, in which the answer to its request reaches the sender.
    static let trialDelay = Duration.seconds(2)
    /// The time in which a trial must succeed. If a neighbour's network has the same name, wpa_supplicant tries it first, and
    /// then waits for 10 s.
    static let trialTime = Duration.seconds(30)
    /// The time until a plug without a stored network opens its own one, in which a cable may get its link.
    static let cableTime = Duration.seconds(5)
    /// The time in which the plug's own network must open. wpa_supplicant scans first.
    static let openingTime = Duration.seconds(30)
    /// The time for an answer of wpa_supplicant, which waits for the radio's driver in some commands.
    static let answerTime = Duration.seconds(30)
    /// The interval of checks that wpa_supplicant still runs.
    static let checkInterval = Duration.seconds(30)
    /// The interval of attempts after a failure.
    static let retryInterval = Duration.seconds(10)
    /// The interval of attempts to write to flash.
    private static let keepInterval = Duration.seconds(60)
    /// The time for a scan.
    static let scanTime = Duration.seconds(10)
    /// The limit of requests that wait for an answer. Each session sends one at a time.
    static let askersLimit = 64

    let label: Label
    var networks: WiFiNetworks
    var conversation = SupplicantConversation()
    var mode = Mode.station(Station())
    /// The networks of the last scan before the setup.
    var found: [FoundNetwork] = []
    var failure: WiFiReport.Failure?
    /// The trial that begins soon.
    var planned: (trial: Trial, begins: Instant)?
    /// The numbers of the requests that wait for the strength of the signal.
    var askers: [UInt64] = []
    /// The time at which the networks are written to flash again after a failure.
    private var keepsAgain: Instant?
    var signal: (dBm: Int, megahertz: Int?)?
    /// The time at which the current mode is configured again after a refused command.
    var retries: Instant?
    /// True if wpa_supplicant already had the stored networks when plugd started.
    var isConfigured = false
    /// True after the log has reported that wpa_supplicant does not answer.
    var isMissing = false
    var hasCable = false
    var hasSessions = false
    var actions: [Action] = []

    /// The current use of the radio.
    enum Mode: Sendable {
        /// Joins stored networks.
        case station(Station)
        /// Looks for networks, which the setup page lists.
        case looking(SetupCause, until: Instant)
        /// The plug's own network.
        case setup(SetupCause, isOpen: Bool, until: Instant?)
        case trying(Trial, until: Instant, reason: WiFiReport.Reason)
    }

    struct Station: Sendable {
        /// The network that the plug has joined.
        var link: WiFiReport.Link?
        /// The start of the search for a network.
        var searchesSince: Instant?
        var hasWrongPassword = false
    }

    enum SetupCause: Sendable { case noNetwork, outOfReach, requested }

    struct Trial: Sendable {
        var network: WiFiNetwork
        var country: WiFiCountry?
        var address: FixedAddress?
        /// The setup to return to after a failure; nil to return to the stored networks.
        var setup: SetupCause?
    }

    /// Creates a machine without a connection to wpa_supplicant.
    public init(label: Label, networks: WiFiNetworks) { (self.label, self.networks) = (label, networks) }

    public var nextDeadline: Instant? {
        sooner(sooner(conversation.nextDeadline, modeDeadline), sooner(sooner(planned?.begins, retries), keepsAgain))
    }

    private var modeDeadline: Instant? {
        switch mode {
        case .station(let station): setupDue(station)
        case .looking(_, let until): until
        case .setup(_, _, let until): until
        case .trying(_, let until, _): until
        }
    }

    /// The time at which the plug opens its own network; nil if it has a network or a cable.
    private func setupDue(_ station: Station) -> Instant? {
        guard station.link == nil, !hasCable, let since = station.searchesSince else { return nil }
        if networks.list.isEmpty { return since + Self.cableTime }
        return since + (station.hasWrongPassword ? Self.patienceWithWrongPassword : Self.patience)
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .started: perform(conversation.open())
        case .socketOpened(let isOpen):
            if isOpen {
                perform(conversation.begin([.attach, .list, .status], now: now))
            } else {
                lostSupplicant(now: now)
            }
        case .received(let text): receive(SupplicantMessage(text), now: now)
        case .socketFailed: lostSupplicant(now: now)
        case .requested(let request, let number): answer(request, number, now: now)
        case .submitted(let network, let country, let address):
            guard case .setup(let cause, _, _) = mode else { break }
            plan(Trial(network: network, country: country, address: address, setup: cause), now: now)
        case .visited:
            guard case .setup(let cause, true, let until?) = mode else { break }
            mode = .setup(cause, isOpen: true, until: max(until, now + Self.setupTurn))
        case .setupRequested: look(.requested, now: now)
        case .wired(let hasCable): changeCable(hasCable, now: now)
        case .kept(let isKept):
            guard !isKept else { break }
            if case .station(let station) = mode, let name = station.link?.name { fail(name, .notStored) }
            keepsAgain = now + Self.keepInterval
        case .sessions(let hasSessions):
            guard hasSessions != self.hasSessions else { break }
            self.hasSessions = hasSessions
            if case .station(let station) = mode, station.link != nil { savePower(!hasSessions, now: now) }
        case .deadlineReached: reachDeadline(now: now)
        }
        defer { actions = [] }
        return actions
    }

    private mutating func reachDeadline(now: Instant) {
        perform(conversation.reachDeadline(now: now))
        if conversation.isLost { return lostSupplicant(now: now) }
        if let keepsAgain, keepsAgain <= now {
            self.keepsAgain = nil
            actions.append(.keep(networks))
        }
        if let planned, planned.begins <= now { begin(planned.trial, now: now) }
        if let retries, retries <= now {
            self.retries = nil
            configure(now: now)
        }
        guard let modeDeadline, modeDeadline <= now else { return }
        switch mode {
        case .station: look(networks.list.isEmpty ? .noNetwork : .outOfReach, now: now)
        case .looking(let cause, _): openSetup(cause, now: now)
        case .setup: join(now: now)
        case .trying(let trial, _, let reason): end(trial, reason, now: now)
        }
    }

    mutating func lostSupplicant(now: Instant) {
        if !isMissing { note(.supplicantMissing) }
        isMissing = true
        if case .setup(_, true, _) = mode { actions.append(.serve(false)) }
        planned = nil
        retries = nil
        mode = .station(Station())
        perform(conversation.close(now: now))
        answerAskers()
    }

    private mutating func changeCable(_ hasCable: Bool, now: Instant) {
        guard hasCable != self.hasCable else { return }
        self.hasCable = hasCable
        switch mode {
        case .station(var station):
            if station.link == nil, conversation.isReady { station.searchesSince = now }
            mode = .station(station)
        case .looking(let cause, _), .setup(let cause, _, _):
            switch cause {
            case .noNetwork, .outOfReach: if hasCable { join(now: now) }
            case .requested: break
            }
        case .trying: break
        }
    }

    // MARK: Requests

    private mutating func answer(_ request: WiFiRequest, _ number: UInt64, now: Instant) {
        guard askers.count < Self.askersLimit else {
            return actions.append(.answer(number, .failure(Refusal(.busy, "too many requests about Wi-Fi wait"))))
        }
        if !conversation.isReady, request != .ask {
            let reason = "the program that drives the radio (wpa_supplicant) does not answer"
            return actions.append(.answer(number, .failure(Refusal(.unsupported, reason))))
        }
        switch request {
        case .ask: break
        case .join(let network, let country):
            if case .trying = mode {
                return actions.append(.answer(number, .failure(Refusal(.busy, "the plug is trying a network"))))
            }
            let cause: SetupCause? = if case .setup(let cause, _, _) = mode { cause } else { nil }
            // Only the setup page changes the address.
            let address = networks.addresses[network.name]
            plan(Trial(network: network, country: country, address: address, setup: cause), now: now)
        case .remove(let name):
            guard networks.remove(name) else {
                let reason = "the plug does not know the network \(name)"
                return actions.append(.answer(number, .failure(Refusal(.outOfRange, reason))))
            }
            actions.append(.keep(networks))
            if case .station = mode { join(now: now) }
        case .setUp: look(.requested, now: now)
        }
        askers.append(number)
        guard case .station(let station) = mode, station.link != nil, planned == nil, conversation.isReady else {
            return answerAskers()
        }
        perform(conversation.add(.signal, now: now))
    }

    mutating func answerAskers() {
        let report = report
        for number in askers { actions.append(.answer(number, .success(report))) }
        askers = []
    }

    /// The state for owners.
    public var report: WiFiReport {
        WiFiReport(
            phase: phase, networks: networks.list.map(\.name), failure: failure, country: networks.country)
    }

    private var phase: WiFiReport.Phase {
        guard conversation.isReady else { return .off }
        if let planned { return .trying(planned.trial.network.name) }
        switch mode {
        case .station(let station):
            guard var link = station.link else { return .searching }
            (link.signal, link.megahertz) = (signal?.dBm, signal?.megahertz)
            return .joined(link)
        case .looking, .setup: return .setup
        case .trying(let trial, _, _): return .trying(trial.network.name)
        }
    }

    /// The content of the setup page; nil while the plug's own network is closed.
    public var setupPage: SetupPage? {
        guard case .setup(_, isOpen: true, _) = mode else { return nil }
        return SetupPage(
            plug: label.name, found: found.filter { $0.name != label.name }, failure: failure,
            country: networks.country, isTrying: planned?.trial.network.name)
    }

    mutating func note(_ notice: Notice) { actions.append(.notice(notice)) }

    mutating func fail(_ name: WiFiName, _ reason: WiFiReport.Reason) {
        let failure = WiFiReport.Failure(name, reason)
        self.failure = failure
        note(.failed(failure))
    }

    mutating func perform(_ steps: [SupplicantConversation.Step]) {
        for step in steps {
            switch step {
            case .open: actions.append(.open)
            case .close: actions.append(.close)
            case .send(let command): actions.append(.send(command))
            }
        }
    }
}
