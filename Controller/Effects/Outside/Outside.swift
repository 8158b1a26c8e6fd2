public import Automation

/// Under which conditions rules and scripts do something outside of the house.
public struct Outside: Sendable {
    enum Verdict: Hashable {
        /// Nil: by its own name, wherever that is found.
        case found(FilePlace?)
        case refused(String)
    }

    /// Of each file that says something. All of them hold.
    let limits: [OutsideLimits]
    /// What programs get beside the event.
    let environment: [String]
    /// What programs are kept from; nil where nobody wants it, or the kernel cannot.
    let fence: KeyFence?

    /// - Parameters:
    ///   - secrets: files and folders that no program may read, unless a limit says otherwise.
    ///   - socket: of the daemon, for programs that command plugs without a key of their own; nil where there is none.
    public init(limits: [OutsideLimits] = [], keeping secrets: Secrets = Secrets(), socket: String? = nil) {
        self.limits = limits
        environment = socket.map { ["SMARTPLUG_DAEMON=\($0)"] } ?? []
        fence = Self.keepsKeys(limits) && Self.canKeepKeys && !secrets.isEmpty ? KeyFence(keeping: secrets) : nil
    }

    /// False where the kernel has nothing to keep programs of the daemon's user from its files.
    public static var canKeepKeys: Bool { KeyFence.isPossible }

    /// Whoever says that keys are kept is heard before whoever says that they need not be.
    public static func keepsKeys(_ limits: [OutsideLimits]) -> Bool {
        limits.contains { $0.keepsKeys == true } || !limits.contains { $0.keepsKeys == false }
    }

    /// What may be run is found once, and run as what was found: what its name leads to may be another in a moment.
    func verdict(onProgram name: String) -> Verdict {
        guard limits.contains(where: { $0.programs != .any }) else { return .found(nil) }
        let place = FilePlace(ofProgram: name)
        for limit in limits {
            if let words = limit.refusal(ofProgram: name, at: place) { return .refused(words) }
        }
        return .found(place)
    }

    /// What the rules want and do not get.
    public func findings(_ rules: [Rule]) -> [RuleFinding] {
        rules.enumerated().flatMap { index, rule in
            rule.actions.enumerated().compactMap { place, action in
                refusal(of: action).map {
                    RuleFinding(
                        .warning, rule: index, .action(place), $0,
                        hint: "[outside] in that file can allow it; the daemon reads it when it starts")
                }
            }
        }
    }

    private func refusal(of action: RuleAction) -> String? {
        switch action {
        case .run(let words, _):
            guard case .refused(let reason) = verdict(onProgram: words.first ?? "") else { return nil }
            return reason
        case .webHook(let hook):
            guard let server = WebRequest.server(of: hook) else { return nil }
            return limits.lazy.compactMap { $0.refusal(ofServer: server) }.first
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .waitUntil, .notify, .call: return nil
        }
    }
}
