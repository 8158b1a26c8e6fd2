import PlugModel
import PlugProtocol
import ProtocolCore

/// Another name, other settings: first flash has them, then they hold and the controller is told.
extension PlugMachine {
    struct SettingsChanges: Sendable {
        /// In the order in which they came: each is judged by what those before it left. Bounded by the commands that the server
        /// lets wait.
        var waiting: [Asked] = []
        /// What flash is about to have.
        var writing: (asked: Asked, settings: StoredSettings)?
        /// The name that a person gave the plug, until it is announced.
        var given: String?
        /// Keep a program that changes them in a loop from wearing the flash out, and one controller from using up what the others
        /// may change. A restart of the firmware forgets them.
        private var rate = SwitchingRateGuard(SwitchingRate(count: 60, window: .seconds(3600)))
        private var rates: [AuthorityID: SwitchingRateGuard] = [:]
        /// The same for the setup code, which only owners change.
        private var codes = SwitchingRateGuard(SwitchingRate(count: 30, window: .seconds(3600)))

        mutating func mayChangeCode(_ now: Instant) -> Bool { codes.take(now) }

        mutating func mayChange(_ authority: AuthorityID, _ now: Instant) -> Bool {
            // More authorities than controllers: some of them were removed.
            if rates.count > 2 * PairedControllers.limit { rates = [:] }
            let each = SwitchingRateGuard(SwitchingRate(count: 30, window: .seconds(3600)))
            return rates[authority, default: each].take(now) && rate.take(now)
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

    /// Flash has what was to be written, or could not take it: then everything is as it was.
    mutating func endChange(isKept: Bool, _ now: Instant, _ step: inout Step) {
        guard let (asked, new) = changes.writing else { return }
        changes.writing = nil
        if isKept {
            take(new, asked, now, &step)
        } else {
            answer(asked, .refused(.notStored), now, &step)
        }
        beginChange(now, &step)
    }

    /// Another setup code; the server asks for one at a time.
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
            case .success(let new) where new == settings: take(new, asked, now, &step)
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
                return .failure(Refusal(.unsupported, "This plug does not take another name."))
            }
            wanted.name = name
        case .configure(let change):
            guard identity.capabilities.contains(.settings) else {
                return .failure(Refusal(.unsupported, "This plug does not take other settings."))
            }
            if let refusal = appliance.built.refusal(of: change) { return .failure(refusal) }
            wanted.take(change)
        case .setRelay, .setLevel, .identify, .resetProtection:
            preconditionFailure("the appliance carries out \(command)")
        }
        return .success(wanted)
    }

    private mutating func take(_ new: StoredSettings, _ asked: Asked, _ now: Instant, _ step: inout Step) {
        let before = settings
        settings = new
        note(asked.command, of: asked.id, before: before, now)
        appliance.configure(new)
        if identity.capabilities.contains(.settings) {
            serve(.configured(appliance.configuration.remoteSettings), now, &step)
        }
        // Also one that it has already: the plug that had it before may be gone.
        if case .rename(let name) = asked.command {
            step.sends.append(.announce(name))
            // Told with the name that it is announced as in the end, which may be one that it has already.
            changes.given = name
            if name == identity.name { takeGivenName(announcedAs: name, now, &step) }
        }
        answer(asked, .done(appliance.state, event: nil), now, &step)
    }

    /// It is announced under the name that it was given, or that name with a number.
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

    /// A request that comes again after a restart of the firmware gets the same answer.
    mutating func remember(_ command: CommandID, _ step: inout Step) {
        guard let outcome = server.outcome(of: command) else { return }
        step.records.append(.request(FinishedRequest(command, outcome)))
    }
}

extension Refusal {
    static let notStored = Refusal(
        .storageFailed, "The plug's flash cannot be written, so everything is as it was; its log says why.")
    fileprivate static let flashWasBusy = Refusal(
        .deadlinePassed, "The plug's flash was busy for longer than the command had time, so nothing was changed.")
    fileprivate static let changedTooOften = Refusal(
        .busy, "Name and settings were changed too often; try again later.")
}

extension PlugCommand {
    /// It is about what flash keeps, not about relay, dimmer and light.
    var changesSettings: Bool {
        switch self {
        case .rename, .configure: true
        case .setRelay, .setLevel, .identify, .resetProtection: false
        }
    }
}
