import PlugModel
import ProtocolCore

/// Configures wpa_supplicant, and handles its messages.
extension WiFiMachine {
    mutating func receive(_ message: SupplicantMessage, now: Instant) {
        switch message {
        case .answer(let text):
            guard let command = conversation.takeAnswered() else { return }
            handle(text, to: command, now: now)
            perform(conversation.continue(now: now))
        case .event(let event): handle(event, now: now)
        }
    }

    private mutating func handle(_ answer: String, to command: SupplicantConversation.Command, now: Instant) {
        switch command {
        case .attach: if answer != "OK\n" { lostSupplicant(now: now) }
        case .list: isConfigured = names(in: answer) == configuredNames && !networks.list.isEmpty
        case .status:
            conversation.becomeReady()
            isMissing = false
            start(status: answer, now: now)
        case .scan:
            // The last results remain, and the setup page has a field for names.
            if answer != "OK\n", answer != "FAIL-BUSY\n", case .looking(let cause, _) = mode {
                openSetup(cause, now: now)
            }
        case .results:
            found = FoundNetwork.list(answer)
            if case .looking(let cause, _) = mode { openSetup(cause, now: now) }
        case .signal:
            let dBm = SupplicantText.value("RSSI", in: answer).flatMap { Int($0) }
            let megahertz = SupplicantText.value("FREQUENCY", in: answer).flatMap { Int($0) }
            signal = dBm.flatMap { (-200...0).contains($0) ? $0 : nil }
                .map { ($0, megahertz.flatMap { (1...100_000).contains($0) ? $0 : nil }) }
            answerAskers()
        case .check:
            // A wpa_supplicant that has restarted has no networks, and sends no events before the next ATTACH. The answer has no
            // meaning if the mode has changed since.
            let isCurrent = conversation.isIdle && retries == nil
            if isCurrent, names(in: answer) != configuredNames { lostSupplicant(now: now) }
        case .attempt: break
        case .change: if answer != "OK\n" { refused(command, now: now) }
        case .addNetwork(let number): if answer != "\(number)\n" { refused(command, now: now) }
        }
    }

    /// The names of the networks that wpa_supplicant should have.
    private var configuredNames: [WiFiName] {
        switch mode {
        case .station: networks.list.map(\.name)
        case .looking: []
        case .setup: [label.name]
        case .trying(let trial, _, _): [trial.network.name]
        }
    }

    /// The names of the networks that wpa_supplicant has.
    private func names(in list: String) -> [WiFiName] {
        list.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            return columns.count > 1
                ? SupplicantText.bytes(of: columns[1]).flatMap { WiFiName(bytes: $0) } : nil
        }
    }

    /// Continues with a wpa_supplicant that already has the stored networks, because only plugd restarted.
    private mutating func start(status: String, now: Instant) {
        guard isConfigured else { return join(now: now) }
        var station = Station(searchesSince: now)
        if SupplicantText.value("wpa_state", in: status) == "COMPLETED",
            let name = SupplicantText.value("ssid", in: status).flatMap({ SupplicantText.bytes(of: $0) })
                .flatMap({ WiFiName(bytes: $0) })
        {
            let accessPoint = SupplicantText.value("bssid", in: status) ?? ""
            station.link = WiFiReport.Link(name: name, accessPoint: String(accessPoint.prefix(17)))
            actions.append(.address(networks.addresses[name]))
        }
        mode = .station(station)
    }

    private mutating func refused(_ command: SupplicantConversation.Command, now: Instant) {
        // The words after the third may be a password.
        note(.refused(command: command.text.split(separator: " ").prefix(3).joined(separator: " ")))
        conversation.clear()
        if case .trying(let trial, _, _) = mode { return end(trial, .rejected, now: now) }
        retries = now + Self.retryInterval
    }

    private mutating func handle(_ event: SupplicantEvent, now: Instant) {
        switch (event, mode) {
        case (.terminating, _): lostSupplicant(now: now)
        case (.scanned, .looking): perform(conversation.add(.results, now: now))
        case (.scanFailed, .looking(let cause, _)): openSetup(cause, now: now)
        case (.opened, .setup(let cause, false, let until)):
            retries = nil
            mode = .setup(cause, isOpen: true, until: until)
            note(.setupOpened(label.name))
            actions.append(.serve(true))
        case (.closed, .setup(let cause, true, let until)):
            closeSetup()
            mode = .setup(cause, isOpen: false, until: until)
            retries = now + Self.retryInterval
        // Until all commands are answered, events may belong to the previous network.
        case (.connected(let accessPoint, _), .trying(let trial, _, _)) where conversation.isIdle:
            succeed(trial, accessPoint: accessPoint, now: now)
        case (.wrongPassword, .trying(let trial, let until, _)) where conversation.isIdle:
            // If two access points have the name, the second one may be the right one.
            guard found.contains(where: { $0.name == trial.network.name && $0.accessPoints > 1 }) else {
                return end(trial, .wrongPassword, now: now)
            }
            mode = .trying(trial, until: until, reason: .wrongPassword)
        case (.notFound, .trying(let trial, let until, .noAnswer)):
            mode = .trying(trial, until: until, reason: .notFound)
        case (.rejected, .trying(let trial, let until, _)): mode = .trying(trial, until: until, reason: .rejected)
        case (.connected(let accessPoint, let number), .station(let station)):
            guard let number, networks.list.indices.contains(number) else { return }
            let name = networks.list[number].name
            if station.link?.name != name { note(.joined(name, accessPoint: accessPoint)) }
            actions.append(.address(networks.addresses[name]))
            mode = .station(Station(link: WiFiReport.Link(name: name, accessPoint: accessPoint)))
            signal = nil
            savePower(!hasSessions, now: now)
        case (.disconnected, .station(let station)):
            guard let link = station.link else { return }
            note(.lost(link.name))
            mode = .station(Station(searchesSince: now))
            answerAskers()
        case (.wrongPassword, .station(var station)):
            station.hasWrongPassword = true
            mode = .station(station)
        default: break
        }
    }

    // MARK: Modes

    /// Joins the stored networks.
    mutating func join(now: Instant) {
        closeSetup()
        mode = .station(Station(searchesSince: now))
        configure(now: now)
    }

    /// Looks for networks before the setup, because a radio cannot do that while it serves its own one.
    mutating func look(_ cause: SetupCause, now: Instant) {
        guard conversation.isReady else { return }
        switch mode {
        case .looking, .trying: return
        case .setup(_, let isOpen, let until):
            // The new cause may need a longer time.
            let requested = now + Self.setupOnRequest
            if until != nil { mode = .setup(cause, isOpen: isOpen, until: requested) }
            return
        case .station: break
        }
        planned = nil
        mode = .looking(cause, until: now + Self.scanTime)
        configure(now: now)
    }

    mutating func openSetup(_ cause: SetupCause, now: Instant) {
        let until: Instant? =
            switch cause {
            case .noNetwork: nil
            case .outOfReach: now + Self.setupTurn
            case .requested: networks.list.isEmpty ? nil : now + Self.setupOnRequest
            }
        mode = .setup(cause, isOpen: false, until: until)
        configure(now: now)
    }

    private mutating func closeSetup() {
        guard case .setup(_, isOpen: true, _) = mode else { return }
        note(.setupClosed)
        actions.append(.serve(false))
    }

    mutating func plan(_ trial: Trial, now: Instant) {
        failure = nil
        planned = (trial, now + Self.trialDelay)
    }

    mutating func begin(_ trial: Trial, now: Instant) {
        planned = nil
        closeSetup()
        note(.trying(trial.network.name))
        mode = .trying(trial, until: now + Self.trialTime, reason: .noAnswer)
        configure(now: now)
    }

    /// Ends a trial without success.
    mutating func end(_ trial: Trial, _ reason: WiFiReport.Reason, now: Instant) {
        fail(trial.network.name, reason)
        if let cause = trial.setup { openSetup(cause, now: now) } else { join(now: now) }
    }

    private mutating func succeed(_ trial: Trial, accessPoint: String, now: Instant) {
        networks.add(trial.network, address: trial.address)
        networks.country = trial.country ?? networks.country
        mode = .station(
            Station(link: WiFiReport.Link(name: trial.network.name, accessPoint: accessPoint)))
        signal = nil
        note(.joined(trial.network.name, accessPoint: accessPoint))
        actions += [.address(trial.address), .keep(networks)]
        answerAskers()
        // The connection stays, and the other networks follow.
        perform(conversation.replace(commands(for: networks.list.dropFirst(), from: 1), now: now))
        savePower(!hasSessions, now: now)
    }

    /// Sends the commands of the current mode. They begin with the removal of all networks of wpa_supplicant.
    mutating func configure(now: Instant) {
        retries = nil
        // The command whose answer they wait for may be replaced.
        answerAskers()
        // A wpa_supplicant that has restarted without notice does not know the plug yet, and would send no events.
        var commands: [SupplicantConversation.Command] = [.attempt("DETACH"), .attach, .change("REMOVE_NETWORK all")]
        switch mode {
        case .station:
            if let country = networks.country { commands.append(.attempt("SET country \(country.rawValue)")) }
            commands += self.commands(for: networks.list[...], from: 0)
        case .looking: commands.append(.scan)
        case .setup:
            commands += setupCommands
            retries = now + Self.openingTime
        case .trying(let trial, _, _):
            if let country = trial.country ?? networks.country {
                commands.append(.attempt("SET country \(country.rawValue)"))
            }
            commands += self.commands(for: [trial.network], from: 0)
        }
        perform(conversation.replace(commands, now: now))
    }

    /// The commands that add networks. The first network has the highest priority.
    private func commands(
        for networks: ArraySlice<WiFiNetwork>, from first: Int
    ) -> [SupplicantConversation.Command] {
        zip(first..., networks).flatMap { number, network -> [SupplicantConversation.Command] in
            let set = "SET_NETWORK \(number)"
            var commands: [SupplicantConversation.Command] = [
                .addNetwork(number), .change("\(set) ssid \(HexadecimalText.text(of: network.name.bytes))"),
                // Finds networks that do not announce their name.
                .change("\(set) scan_ssid 1"), .change("\(set) priority \(WiFiNetworks.limit - number)"),
                // Looks for a better access point of the network while the signal is weak.
                .attempt("\(set) bgscan \"simple:30:-65:300\""),
            ]
            switch network.password {
            case nil: commands.append(.change("\(set) key_mgmt NONE"))
            case let password? where password.isKey:
                commands += [.change("\(set) key_mgmt WPA-PSK"), .change("\(set) psk \(password.secret)")]
            case let password?:
                commands += [
                    .change("\(set) proto RSN"), .change("\(set) key_mgmt WPA-PSK WPA-PSK-SHA256 SAE"),
                    .change("\(set) ieee80211w 1"), .change("\(set) psk \"\(password.secret)\""),
                ]
            }
            return commands + [.change("ENABLE_NETWORK \(number)")]
        }
    }

    private var setupCommands: [SupplicantConversation.Command] {
        [
            .addNetwork(0), .change("SET_NETWORK 0 ssid \(HexadecimalText.text(of: label.name.bytes))"),
            .change("SET_NETWORK 0 mode 2"), .change("SET_NETWORK 0 frequency 2437"),
            .change("SET_NETWORK 0 proto RSN"), .change("SET_NETWORK 0 key_mgmt WPA-PSK"),
            .change("SET_NETWORK 0 pairwise CCMP"), .change("SET_NETWORK 0 group CCMP"),
            .change("SET_NETWORK 0 psk \"\(label.password.secret)\""), .change("SELECT_NETWORK 0"),
        ]
    }

    /// While a controller has a session, the radio does not sleep, because that delays commands.
    mutating func savePower(_ saves: Bool, now: Instant) {
        perform(conversation.add(.attempt("SET ps \(saves ? 1 : 0)"), now: now))
    }
}
