import PlugModel
import PlugProtocol
import ProtocolCore

/// Changes of name and settings. They are written to flash first, then applied and confirmed to the controller.
extension PlugMachine {
    struct SettingsChanges: Sendable {
        /// The changes in the order of their arrival. Each is checked against the result of the previous ones. The
        /// server limits the number of waiting commands.
        var waiting: [Asked] = []
        /// The change that is being written to flash.
        var writing: (asked: Asked, settings: StoredSettings)?
        /// The name that a user gave the plug, until it is announced.
        var given: String?
        /// Limits on changes per hour, for all authorities together and for each one, so that a looping program does
        /// not wear out the flash and one controller does not use up the changes of the others. They are reset when the
        /// firmware restarts.
        private var total = limit(PeerBudgets.allChangesAtOnce)
        private var authorities: [AuthorityID: TokenBucket] = [:]
        /// The limit on changes of the setup code, which only owners can change.
        private var codes = limit(PeerBudgets.changesAtOnce)

        private static func limit(_ changes: Int) -> TokenBucket {
            TokenBucket(burst: changes, interval: Duration.seconds(3600) / changes)
        }

        mutating func mayChangeCode(_ now: Instant) -> Bool { codes.take(now: now) }

        mutating func mayChange(_ authority: AuthorityID, _ now: Instant) -> Bool {
            // The table has more authorities than there are controllers, so some were removed.
            if authorities.count > 2 * PairedControllers.limit { authorities = [:] }
            return authorities[authority, default: Self.limit(PeerBudgets.changesAtOnce)].take(now: now)
                && total.take(now: now)
        }
    }

    struct Asked: Sendable {
        var id: CommandID
        var command: PlugCommand
        var deadline: Instant
    }

    mutating func change(
        _ command: PlugCommand, _ id: CommandID, deadline: Instant, _ now: Instant, _ step: inout Step
    ) {
        changes.waiting.append(Asked(id: id, command: command, deadline: deadline))
        beginChange(now, &step)
    }

    /// Finishes a change after flash stored it. If flash failed, nothing changes.
    mutating func endChange(isKept: Bool, _ now: Instant, _ step: inout Step) {
        guard let (asked, new) = changes.writing else { return }
        changes.writing = nil
        if isKept {
            apply(new, asked, now, &step)
        } else {
            answer(asked, .refused(.notStored), now, &step)
        }
        beginChange(now, &step)
    }

    /// Writes a new setup code. The server requests only one at a time.
    mutating func keep(_ code: SetupCode, _ now: Instant, _ step: inout Step) {
        guard changes.mayChangeCode(now) else {
            return serve(
                .codeKept(Refusal(.busy, "The setup code was changed too often; try again later.")), now, &step)
        }
        step.flash.append(.keepCode(code))
    }

    private mutating func beginChange(_ now: Instant, _ step: inout Step) {
        while changes.writing == nil, !changes.waiting.isEmpty {
            let asked = changes.waiting.removeFirst()
            guard asked.deadline >= now else {
                answer(asked, .refused(.flashWasBusy), now, &step)
                continue
            }
            switch wanted(asked.command) {
            case .failure(let refusal): answer(asked, .refused(refusal), now, &step)
            case .success(let new) where new == settings: apply(new, asked, now, &step)
            case .success(let new):
                guard changes.mayChange(asked.id.authority, now) else {
                    answer(asked, .refused(.changedTooOften), now, &step)
                    continue
                }
                changes.writing = (asked, new)
                step.flash.append(.keepSettings(new))
            }
        }
    }

    private func wanted(_ command: PlugCommand) -> Result<StoredSettings, Refusal> {
        var wanted = settings
        switch command {
        case .rename(let name):
            guard identity.capabilities.contains(.rename) else {
                return .failure(Refusal(.unsupported, "This plug cannot be renamed."))
            }
            wanted.name = name
        case .configure(let change):
            guard identity.capabilities.contains(.settings) else {
                return .failure(Refusal(.unsupported, "The settings of this plug cannot be changed."))
            }
            if let refusal = appliance.built.refusal(of: change) { return .failure(refusal) }
            wanted.apply(change)
        case .setRelay, .setLevel, .identify, .resetProtection:
            preconditionFailure("\(command) does not change settings")
        }
        return .success(wanted)
    }

    private mutating func apply(_ new: StoredSettings, _ asked: Asked, _ now: Instant, _ step: inout Step) {
        let before = settings
        settings = new
        note(asked.command, of: asked.id, before: before, now)
        appliance.configure(new)
        // The light shows the new settings at once.
        self.step(.deadlineReached, now, &step)
        if identity.capabilities.contains(.settings) {
            serve(.configured(appliance.configuration.remoteSettings), now, &step)
        }
        // An unchanged name is announced too, because a plug that had the name may have disappeared.
        if case .rename(let name) = asked.command {
            step.sends.append(.announce(name))
            // The given name is reported together with the announced name. The announced name may be unchanged; then no
            // further event reports it.
            changes.given = name
            if name == identity.name { takeGivenName(announcedAs: name, now, &step) }
        }
        answer(asked, .done(appliance.state, event: nil), now, &step)
    }

    /// Handles the announced name: the given name, or that name with a number.
    mutating func takeGivenName(announcedAs name: String, _ now: Instant, _ step: inout Step) {
        guard let given = changes.given.take() else { return serve(.renamed(name), now, &step) }
        serve(.named(given, announcedAs: name), now, &step)
    }

    private mutating func answer(
        _ asked: Asked, _ outcome: CommandOutcome, _ now: Instant, _ step: inout Step
    ) {
        serve(.commandOutcome(asked.id, outcome), now, &step)
        remember(asked.id, &step)
    }

    /// Records the outcome, so that a request that is repeated after a restart gets the same answer.
    mutating func remember(_ command: CommandID, _ step: inout Step) {
        guard let outcome = server.outcome(of: command) else { return }
        step.records.append(.request(FinishedRequest(command, outcome)))
    }
}

extension Refusal {
    static let notStored = Refusal(
        .storageFailed, "The plug's flash cannot be written, so nothing was changed; see its log.")
    fileprivate static let flashWasBusy = Refusal(
        .deadlinePassed, "The plug's flash was busy until the command's deadline, so nothing was changed.")
    fileprivate static let changedTooOften = Refusal(
        .busy, "Name and settings were changed too often; try again later.")
}

extension PlugCommand {
    /// True if the command changes the stored settings instead of relay, dimmer or light.
    var changesSettings: Bool {
        switch self {
        case .rename, .configure: true
        case .setRelay, .setLevel, .identify, .resetProtection: false
        }
    }
}
