public import Effects
public import HouseCalendar
import LinuxSystem
public import PlugModel
public import PowerHistory
import Presentation
import ProtocolCore
public import RuleChecks
public import RuleModel

/// The facts about a house that a check of its rules uses.
public struct RuleCheckContext: Sendable {
    /// The known plugs; nil if they are unavailable, which disables the checks of plug names and capabilities.
    public var plugs: [KnownPlug]?
    /// The names of the machines that rules can wake; nil if they are unavailable.
    public var machines: [String]?
    /// The location of the house; nil if it is unknown.
    public var daylight: Daylight?
    /// The policy for effects outside of the house.
    public var policy: EffectPolicy

    /// Creates a context from its parts.
    public init(plugs: [KnownPlug]?, machines: [String]?, daylight: Daylight?, policy: EffectPolicy) {
        (self.plugs, self.machines, self.daylight, self.policy) = (plugs, machines, daylight, policy)
    }

    /// Returns the findings about rules that run together.
    public func findings(_ rules: [Rule]) -> [RuleFinding] {
        RuleCheck.findings(
            rules, in: plugs, machines: machines, knowsSun: daylight != nil,
            sun: daylight.map(Self.yearAhead) ?? .unknown) + policy.findings(rules)
    }

    private static func yearAhead(_ daylight: Daylight) -> SunTimes {
        let now = Int(WallTime.now.nanosecondsSince1970 / 1_000_000_000)
        let zone = ZoneOffsets.local(from: now - 2 * 86_400, to: now + 368 * 86_400)
        let today = Int64(now / 86_400)
        return daylight.times(days: today...today + 365, zone: zone) { Instant(nanoseconds: $0 * 1_000_000_000) }
    }

    /// Returns the plugs that rules may name, sorted by name; nil without any plug.
    ///
    /// - Parameters:
    ///   - present: the names and capabilities of the house's plugs; the capabilities are nil if they are unknown.
    ///   - history: also contains the plugs of the past, and the power of each plug; nil without a history. A history
    ///     that cannot be read adds nothing.
    public static func plugs(
        _ present: [(name: String, capabilities: Set<Capability>?)], in history: PowerHistory?
    ) -> [KnownPlug]? {
        var plugs: [String: KnownPlug] = [:]
        for (name, power) in recordedPowers(history) { plugs[name] = KnownPlug(name: name, activePower: power) }
        for (name, capabilities) in present {
            plugs[name, default: KnownPlug(name: name)].capabilities = capabilities
        }
        return plugs.isEmpty ? nil : plugs.values.sorted { $0.name < $1.name }
    }

    /// Returns the least and the greatest power of the last 30 days in W, by name; nil for a plug that drew no power.
    private static func recordedPowers(_ history: PowerHistory?) -> [String: ClosedRange<Double>?] {
        guard let history else { return [:] }
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000
        var powers: [String: ClosedRange<Double>?] = [:]
        do throws(HistoryError) {
            for plug in try history.plugs() where !plug.name.isEmpty {
                let days = try history.summaries(
                    of: plug.id, step: .day, from: now - 30 * RollUpStep.day.milliseconds, to: now)
                // The samples of a plug that was never turned on do not show the power of its appliance.
                guard let greatest = days.map(\.greatest).max(), let least = days.map(\.least).min(), greatest > 0
                else {
                    powers.updateValue(nil, forKey: plug.name)
                    continue
                }
                powers[plug.name] = least...greatest
            }
        } catch {
            // `plugctl history` reports the error.
            return powers
        }
        return powers
    }
}
