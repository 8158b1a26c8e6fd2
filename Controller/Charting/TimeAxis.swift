import HouseCalendar

/// The time axis: ticks at round local times, as close to each other as their labels allow.
struct TimeAxis: Hashable {
    struct Tick: Hashable {
        let time: Double
        let label: String
        /// True if the tick names a range and is in its middle; false for a boundary.
        var isInMiddle = false
    }

    private enum Step: Hashable {
        case seconds(Int)
        case months(Int)

        static let all: [Step] =
            [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200].map(seconds)
            + [1, 2, 7, 14].map { .seconds($0 * 86_400) } + [1, 3, 6, 12, 60, 120, 600, 1200].map(months)

        /// The minimum length of a step in seconds.
        var length: Double {
            switch self {
            case .seconds(let seconds): Double(seconds)
            case .months(let months): Double(months * 28 * 86_400)
            }
        }

        func label(_ time: CivilTime) -> String {
            switch self {
            case .seconds(let seconds):
                if seconds >= 86_400 || time.isMidnight { return time.dayAndMonth }
                return seconds < 60 ? time.clockWithSeconds : time.clock
            case .months(let months):
                return months >= 12 ? String(time.year) : "\(time.monthName) \(time.year)"
            }
        }

        /// The number of characters of the longest label.
        var labelLength: Int {
            switch self {
            case .seconds(let seconds): seconds < 60 ? 8 : 6
            case .months(let months): months >= 12 ? 4 : 8
            }
        }
    }

    let ticks: [Tick]

    /// Chooses the shortest step whose labels fit.
    ///
    /// - Parameter length: The length of the axis in characters of its labels.
    init(window: ChartWindow, zone: ZoneOffsets, length: Double) {
        let step = Step.all.first { step in
            // Labels are at least two characters apart.
            step.length / window.length * length >= Double(step.labelLength + 2)
        }
        guard let step else {
            ticks = []
            return
        }
        var ticks: [Tick] = []
        for span in zone.spans(from: window.from, to: window.to) {
            for time in TimeAxis.times(from: span.from, to: span.to, offset: Double(span.offset), step: step) {
                let civil = CivilTime(localSeconds: time + Double(span.offset))
                ticks.append(Tick(time: time, label: step.label(civil)))
            }
        }
        self.ticks = TimeAxis.apart(ticks, characters: length / window.length)
    }

    /// Removes each tick whose label would overlap the previous label. This happens when the clock is set back, because
    /// an hour then occurs twice.
    ///
    /// - Parameter characters: The number of characters per second.
    private static func apart(_ ticks: [Tick], characters: Double) -> [Tick] {
        var kept: [Tick] = []
        for tick in ticks {
            if let last = kept.last {
                let room = (tick.time - last.time) * characters
                guard room >= Double(tick.label.count + last.label.count) / 2 + 1 else { continue }
            }
            kept.append(tick)
        }
        return kept
    }

    /// Returns the UTC times with `from <= time < to` whose local time is a whole number of steps. Weeks begin on
    /// Monday.
    private static func times(from: Double, to: Double, offset: Double, step: Step) -> [Double] {
        var times: [Double] = []
        switch step {
        case .seconds(let seconds):
            // 1970-01-01 was a Thursday; four days later is the first Monday.
            let origin = seconds >= 7 * 86_400 ? 4 * 86_400.0 : 0
            let length = Double(seconds)
            var local = ((from + offset - origin) / length).rounded(.up) * length + origin
            while local - offset < to {
                times.append(local - offset)
                local += length
            }
        case .months(let months):
            let start = CivilTime(localSeconds: from + offset)
            var month = floorDivide(start.year * 12 + start.month - 1, months) * months
            while true {
                let year = floorDivide(month, 12)
                let time = CivilTime(year: year, month: month - year * 12 + 1, day: 1).localSeconds - offset
                guard time < to else { break }
                if time >= from { times.append(time) }
                month += months
            }
        }
        return times
    }

    /// Describes the window: the date and time of its start, and the time of its end, with the date if that differs.
    static func caption(_ window: ChartWindow, zone: ZoneOffsets) -> String {
        let start = CivilTime(localSeconds: window.from + Double(zone.offset(at: window.from)))
        let end = CivilTime(localSeconds: window.to + Double(zone.offset(at: window.to)))
        let seconds = window.length < 600
        let first = seconds ? start.clockWithSeconds : start.clock
        let last = seconds ? end.clockWithSeconds : end.clock
        let sameDay = start.date == end.date
        return "\(start.date) \(first) to " + (sameDay ? last : "\(end.date) \(last)")
    }
}

extension Chart {
    /// Returns the ticks of the time axis. A tick at the start of a bar names the bar and is moved to its middle.
    ///
    /// - Parameter length: The length of the axis in characters of its labels.
    func timeTicks(length: Double) -> [TimeAxis.Tick] {
        let ticks = TimeAxis(window: window, zone: zone, length: length).ticks
        guard hasBars else { return ticks }
        let bars = Dictionary(BarStack(self).stacks.map { ($0.from, $0.to) }) { first, _ in first }
        let lengths = bars.map { $0.value - $0.key }.sorted()
        guard !lengths.isEmpty else { return ticks }
        // A label without a bar is placed as if a bar of the usual length were there.
        let usual = lengths[lengths.count / 2]
        return ticks.compactMap { tick in
            let end = bars[tick.time] ?? tick.time + usual
            guard end <= window.to + usual / 2 else { return nil }
            return TimeAxis.Tick(time: (tick.time + end) / 2, label: tick.label, isInMiddle: true)
        }
    }
}
