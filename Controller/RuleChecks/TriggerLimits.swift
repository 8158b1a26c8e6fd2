import RuleModel

extension RuleInspection {
    /// The maximum power in watts that a plug switches: 16 A at 230 V (Documentation/reference/hardware.md).
    static let rating = 3680.0

    /// Finds triggers on power and energy that can never arm or fire, that would never have fired with the recorded
    /// power, or that always fire.
    func limits(_ index: Int) -> [RuleFinding] {
        rules[index].triggers.enumerated().compactMap { place, trigger in
            let complaint: Complaint?
            switch trigger {
            case .activePower(let plug, let threshold): complaint = limit(threshold, plug)
            case .activePowerStays(let plug, let band): complaint = limit(band, plug)
            case .activeEnergy(let plug, let threshold): complaint = limit(threshold, plug)
            case .button, .relay, .lost, .back, .protection, .appliance, .schedule, .rule, .timer: complaint = nil
            }
            return complaint.map {
                RuleFinding($0.severity, rule: index, .trigger(place), word: nil, $0.message, hint: $0.hint)
            }
        }
    }

    private struct Complaint {
        var severity: RuleFinding.Severity
        var message: String
        var hint: String
    }

    private func limit(_ threshold: PowerThreshold, _ plug: String) -> Complaint? {
        let known = house.plug(plug)?.activePower
        let feedsBack = known.map { $0.lowerBound < 0 } ?? false
        let watts = "\(threshold.watts.decimal) W"
        switch threshold.direction {
        case .risesAbove:
            if threshold.watts >= Self.rating { return beyondRating("the power never rises above \(watts)") }
            let arms = threshold.watts - threshold.hysteresis
            if arms < 0, !feedsBack {
                return threshold.watts >= 0
                    ? Complaint(
                        severity: .error,
                        message:
                            "the trigger arms at \(arms.decimal) W and below, which only an appliance that feeds power back reaches",
                        hint: "the hysteresis must be at most \(watts); delete it, or lower it")
                    : feedingOnly("the power is always above \(watts)")
            }
            guard let known, known.upperBound <= threshold.watts else { return nil }
            return unheardOf(plug, known, "the power never rose above \(watts)")
        case .fallsBelow:
            if threshold.watts <= 0, !feedsBack { return feedingOnly("the power never falls below \(watts)") }
            let arms = threshold.watts + threshold.hysteresis
            if arms > Self.rating { return beyondRating("the trigger arms at \(arms.decimal) W and above") }
            guard let known, known.upperBound < arms else { return nil }
            return unheardOf(plug, known, "the trigger arms at \(arms.decimal) W and above")
        }
    }

    private func limit(_ band: PowerBand, _ plug: String) -> Complaint? {
        let known = house.plug(plug)?.activePower
        if band.low > band.high {
            return Complaint(
                severity: .error, message: "the range from \(band.low.decimal) W to \(band.high.decimal) W is empty",
                hint: "write the lower value first: [\(band.high.decimal) W, \(band.low.decimal) W]")
        }
        if band.low == band.high {
            return Complaint(
                severity: .error, message: "the range has no width: no reading is exactly \(band.low.decimal) W",
                hint: "use a wider range, such as [\((band.low * 0.9).decimal) W, \((band.low * 1.1).decimal) W]")
        }
        if band.low > Self.rating { return beyondRating("the power never reaches \(band.low.decimal) W") }
        let feedsBack = known.map { $0.lowerBound < 0 } ?? false
        if band.high < 0, !feedsBack { return feedingOnly("the power never falls to \(band.high.decimal) W") }
        // A plug that is off has a power of 0 W. The trigger arms at 0 W only if its lower arming limit is above 0 W.
        let leavesBelow = band.armsBelow > 0 || feedsBack
        if !leavesBelow, band.armsAbove >= Self.rating {
            return Complaint(
                severity: .error, message: "the power never leaves this range, so it never enters it",
                hint: "narrow the range, or lower the hysteresis")
        }
        // A band that begins at 0 W gets no warning, because the power usually enters it from above.
        if !leavesBelow, band.low > 0 {
            return Complaint(
                severity: .warning,
                message: """
                    power that rises from 0 W never fires this trigger: it arms below \(band.armsBelow.decimal) W or above \
                    \(band.armsAbove.decimal) W
                    """,
                hint: "the hysteresis must be smaller than \(band.low.decimal) W; delete it, or lower it")
        }
        guard let known else { return nil }
        if known.upperBound < band.low {
            return unheardOf(plug, known, "the power never reached \(band.low.decimal) W")
        }
        if !leavesBelow, known.upperBound <= band.high {
            return unheardOf(plug, known, "the power never left this range")
        }
        return nil
    }

    private func limit(_ threshold: EnergyThreshold, _ plug: String) -> Complaint? {
        if threshold.wattHours <= 0 {
            return Complaint(
                severity: .warning, message: "any energy exceeds \(threshold.wattHours.decimal) Wh",
                hint: "use a higher threshold, such as 500 Wh")
        }
        guard let hours = threshold.period.hours else { return nil }
        let most = Self.rating * hours
        if threshold.wattHours >= most {
            return beyondRating(
                "the energy of one \(threshold.period.rawValue) never exceeds \((most / 1000).decimal) kWh")
        }
        guard let known = house.plug(plug)?.activePower, known.upperBound * hours <= threshold.wattHours else {
            return nil
        }
        return unheardOf(
            plug, known, "that is \((known.upperBound * hours / 1000).decimal) kWh per \(threshold.period.rawValue)")
    }

    private func beyondRating(_ message: String) -> Complaint {
        Complaint(
            severity: .error, message: message + ": a plug switches at most \(Self.rating.decimal) W",
            hint: "check for an extra digit, or kW instead of W")
    }

    private func unheardOf(_ plug: String, _ known: ClosedRange<Double>, _ message: String) -> Complaint {
        Complaint(
            severity: .warning,
            message: "the highest recorded power of \(plug) is \(known.upperBound.decimal) W; \(message)",
            hint: "`plugctl chart` and `plugctl history show` show its power")
    }

    private func feedingOnly(_ message: String) -> Complaint {
        Complaint(
            severity: .warning, message: message + ", unless the appliance feeds power back",
            hint: "an appliance in standby draws about 1 W; use a higher threshold")
    }
}

extension EnergyThreshold.Period {
    /// The longest possible length of the period in hours; nil if the length has no limit.
    fileprivate var hours: Double? {
        switch self {
        case .hour: 1
        // The day on which daylight saving time ends has 25 hours.
        case .day: 25
        case .week: 7 * 24 + 1
        case .month: 31 * 24 + 1
        case .on: nil
        }
    }
}
