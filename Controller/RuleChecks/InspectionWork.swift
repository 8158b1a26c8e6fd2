import RuleModel

/// Limits the cost of a check, and caches its expensive results.
///
/// Rules are compared in pairs, trigger by trigger and plug by plug. Without a limit, a file of one megabyte could take
/// hours.
final class InspectionWork {
    /// The maximum number of steps. A step takes a few dozen nanoseconds, so all steps together take less than a
    /// second. They are enough for a thousand rules with one trigger each that command the same plug.
    static let allowance = 10_000_000
    /// The maximum number of cached schedules. Each has at most 10,080 times, one per minute of a week.
    private static let keptSchedules = 64

    private var stepsLeft = InspectionWork.allowance
    private var times: [CronSchedule: WeekTimes] = [:]

    /// True if the steps are used up. The result of the last comparison is then invalid, and no further rules are
    /// compared.
    var isSpent: Bool { stepsLeft <= 0 }

    /// True if the limit on links or loops was reached, so that further ones were not examined.
    private(set) var isCut = false

    func cut() { isCut = true }

    func spend(_ steps: Int) { if !isSpent { stepsLeft -= max(steps, 1) } }

    func times(of cron: CronSchedule) -> WeekTimes {
        var nameless = cron
        nameless.text = ""
        if let known = times[nameless] { return known }
        let worked = WeekTimes(cron)
        spend(worked.ranges.count)
        if times.count >= Self.keptSchedules { times = [:] }
        times[nameless] = worked
        return worked
    }
}
