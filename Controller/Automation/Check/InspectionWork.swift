/// What a look at rules may cost, and what of it need not be worked out twice.
///
/// Rules are compared with each other, trigger by trigger and plug by plug, and a file of a megabyte holds enough of them for hours.
final class InspectionWork {
    /// A step takes a few dozen nanoseconds: all of them less than a second. It is enough for a thousand rules of a trigger each that
    /// all command one plug.
    static let allowance = 10_000_000
    /// Schedules whose times are kept. Each has ten thousand of them at most.
    private static let keptSchedules = 64

    private var stepsLeft = InspectionWork.allowance
    private var times: [CronSchedule: WeekTimes] = [:]

    /// Nothing may be looked at any more: what was asked last has no answer.
    var isSpent: Bool { stepsLeft <= 0 }

    /// Some of it was left out, as far as there was more than is followed.
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
