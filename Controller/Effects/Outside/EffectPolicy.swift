public import Processes
public import RuleChecks
public import RuleModel

/// The policy for what rules and scripts may do outside of the house: which programs they run, which servers they call,
/// and whether programs can read the daemon's keys.
public struct EffectPolicy: Sendable {
    enum Verdict: Hashable {
        /// The program may run from this file. Nil if no limit restricts programs; PATH is then searched when the
        /// program is started.
        case found(ResolvedPath?)
        case refused(String)
    }

    /// The limits of each file that has an `[outside]` table. An effect must satisfy the limits of every file.
    let limits: [OutsideLimits]
    /// Environment variables (`NAME=VALUE`) that programs get in addition to the event.
    let environment: [String]
    /// Keeps programs from reading the daemon's secrets; nil if the configuration disables it, if the kernel has no
    /// Landlock, or if no secrets exist.
    let fence: LandlockSandbox?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - secrets: files and folders that no program may read, unless a limit disables the protection.
    ///   - socket: the path of the daemon's socket, for programs that command plugs without their own key; nil without
    ///     a daemon.
    public init(limits: [OutsideLimits] = [], keeping secrets: Secrets = Secrets(), socket: String? = nil) {
        self.limits = limits
        environment = socket.map { ["SMARTPLUG_DAEMON=\($0)"] } ?? []
        fence = Self.keepsKeys(limits) && Self.canKeepKeys && !secrets.isEmpty ? LandlockSandbox(keeping: secrets) : nil
    }

    /// True if the kernel has Landlock, which can prevent programs of the daemon's user from reading the daemon's
    /// files.
    public static var canKeepKeys: Bool { LandlockSandbox.isPossible }

    /// Returns true if programs are kept from reading the keys. This is the default; `keep_keys = false` in a file
    /// disables it, unless another file has `keep_keys = true`.
    public static func keepsKeys(_ limits: [OutsideLimits]) -> Bool {
        limits.contains { $0.keepsKeys == true } || !limits.contains { $0.keepsKeys == false }
    }

    /// Decides whether a program may run. The program is resolved once, and the resolved file is started: a link at its
    /// path may change between the check and the start.
    func verdict(onProgram name: String) -> Verdict {
        guard limits.contains(where: { $0.programs != .any }) else { return .found(nil) }
        let place = ResolvedPath(ofProgram: name)
        for limit in limits {
            if let words = limit.refusal(ofProgram: name, at: place) { return .refused(words) }
        }
        return .found(place)
    }

    /// Returns a warning for each action of the rules that this policy refuses.
    public func findings(_ rules: [Rule]) -> [RuleFinding] {
        rules.enumerated().flatMap { index, rule in
            rule.actions.enumerated().compactMap { place, action in
                refusal(of: action).map {
                    RuleFinding(
                        .warning, rule: index, .action(place), $0,
                        hint: "allow it in [outside] in that file; the daemon reads the file when it starts")
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
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .waitUntil, .notify, .wake, .call: return nil
        }
    }
}
