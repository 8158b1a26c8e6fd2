import Charting
import HouseCalendar

extension Sample {
    /// The series of ``evening`` as a stack; one plug was absent for a while.
    static let stack = Sample(
        name: "stack",
        chart: Chart(
            title: "Living room, active power, stacked",
            series: evening.chart.series.enumerated().map { index, series in
                let away = start + 900...start + 1100
                return Series(
                    name: series.name, unit: .watts,
                    points: index == 1 ? series.points.filter { !away.contains($0.time) } : series.points, gapLimit: 15)
            }, style: .stacked, zone: centralEurope))

    /// A wash with its phases, and marks for switching by the button and for the firing of a rule.
    static let wash = Sample(
        name: "wash",
        chart: Chart(
            title: "Washing Machine, active power",
            series: [
                Series(
                    name: "Washing Machine", unit: .watts,
                    points: points(7200, every: 1) { second in
                        switch second {
                        case 600..<1500: 2050 + Double(second % 7)
                        case 1500..<4800: second % 30 < 12 ? 180 + Double(second % 11) * 10 : 6
                        case 4800..<5700: 350 + Double(second % 13) * 12
                        default: 0.8
                        }
                    }, gapLimit: 15)
            ],
            marks: [
                ChartMark(time: start + 300, label: "on by the button"),
                ChartMark(time: start + 5760, label: "rule \"The laundry is done\""),
                ChartMark(time: start + 6600, label: "off by the button"),
            ],
            spans: [
                ChartSpan(from: start + 600, to: start + 1500, label: "heating"),
                ChartSpan(from: start + 600, to: start + 5700, label: "wash 0.9 kWh"),
                ChartSpan(from: start + 1500, to: start + 4800, label: "washing"),
                ChartSpan(from: start + 4800, to: start + 5700, label: "spin"),
            ], zone: centralEurope),
        rows: 22)

    /// A year of hourly summaries with mean, minimum and maximum, two weeks without data, and one spike.
    static let envelope = Sample(
        name: "envelope",
        chart: Chart(
            title: "Refrigerator, active power",
            series: [
                Series(
                    name: "Refrigerator", unit: .watts,
                    summaries: (0..<8760).filter { !(3000..<3336).contains($0) }.map { hour in
                        let from = start + Double(hour) * 3600
                        let season = Double(abs(hour - 4380)) / 4380
                        return ChartSummary(
                            from: from, to: from + 3600, covered: 3600, mean: 52 - 20 * season + Double(hour % 5),
                            least: 1, greatest: hour == 6000 ? 640 : 110 - Double(hour % 13))
                    }, points: [], gapLimit: 15)
            ], zone: centralEurope),
        theme: .dark)

    /// Two weeks by day. Of one day's energy 60 % is estimated, and one day has no data.
    static let energy = Sample(
        name: "energy",
        chart: Chart(
            title: "Energy by day",
            series: ["Refrigerator", "Washing Machine"].enumerated().map { index, name in
                Series(
                    name: name, unit: .wattHours,
                    bars: (0..<14).filter { $0 != 9 }.map { day in
                        let from = start - 43_200 + Double(day) * 86_400
                        let value = index == 0 ? 820 + Double(day % 4) * 35 : day % 3 == 0 ? 910.0 : 12
                        return ChartBar(
                            from: from, to: from + 86_400, value: value, estimated: day == 6 ? value * 0.6 : 0)
                    })
            }, zone: centralEurope))

    static let months: Sample = {
        let starts = (0...12).map { CivilTime(year: 2026 + $0 / 12, month: $0 % 12 + 1, day: 1).localSeconds }
        return Sample(
            name: "months",
            chart: Chart(
                title: "Refrigerator, energy by month",
                series: [
                    Series(
                        name: "Refrigerator", unit: .wattHours,
                        bars: zip(starts, starts.dropFirst()).enumerated().map { month, span in
                            ChartBar(from: span.0, to: span.1, value: 24_000 + Double(6 - abs(month - 6)) * 900)
                        })
                ]),
            theme: .dark)
    }()
}
