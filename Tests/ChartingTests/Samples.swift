import Charting
import HouseCalendar
import Testing

/// The charts of the golden files.
struct Sample: CustomTestStringConvertible {
    let name: String
    let chart: Chart
    var rows = 16
    var theme = ChartTheme.light

    var testDescription: String { name }

    /// 2026-11-21 11:00 UTC.
    static let start = 1_795_258_800.0
    static let centralEurope = ZoneOffsets(initial: 3600)

    static let all = [
        refrigerator, evening, voltage, gap, empty, onePoint, negative, daylightSaving, year, standby, stack, wash,
        envelope,
        energy, months,
    ]

    static func points(_ count: Int, every step: Double, _ value: (Int) -> Double) -> [ChartPoint] {
        (0..<count).map { ChartPoint(time: start + Double($0) * step, value: value($0)) }
    }

    /// Six hours of a compressor that runs for the first twenty minutes of every hour, with an inrush of one sample and
    /// then a slow fall.
    static let refrigerator = Sample(
        name: "refrigerator",
        chart: Chart(
            title: "Refrigerator",
            series: [
                Series(
                    name: "Refrigerator", unit: .watts,
                    points: points(21_600, every: 1) { second in
                        let phase = second % 3600
                        return phase == 0 ? 640 : phase < 1200 ? 95 - Double(phase) / 60 : 1.2
                    })
            ], zone: centralEurope))

    static let evening = Sample(
        name: "evening",
        chart: Chart(
            title: "Living room",
            series: [
                Series(name: "Television", unit: .watts, points: points(1800, every: 1) { $0 < 420 ? 0.4 : 118 }),
                Series(name: "Amplifier", unit: .watts, points: points(1800, every: 1) { $0 < 430 ? 0.3 : 46 }),
                Series(
                    name: "Floor Lamp", unit: .watts,
                    points: points(1800, every: 1) { $0 < 422 ? 60 : max(0, 60 - Double($0 - 422) / 6) }),
            ], zone: centralEurope),
        theme: .dark)

    static let voltage = Sample(
        name: "voltage",
        chart: Chart(
            title: "Mains",
            series: [
                Series(
                    name: "Lamp", unit: .volts, points: points(600, every: 1) { 230 + Double(($0 * 37) % 41) / 10 - 2 })
            ], startsAtZero: false))

    static let gap = Sample(
        name: "gap",
        chart: Chart(
            title: "A plug that was away",
            series: [
                Series(
                    name: "Kettle", unit: .watts,
                    points: points(600, every: 1) { $0 % 120 < 50 ? 2150 : 0 }.filter {
                        !(200...330).contains($0.time - start)
                    }, gapLimit: 5)
            ]))

    static let empty = Sample(
        name: "empty",
        chart: Chart(
            title: "Nothing yet", series: [Series(name: "Lamp", unit: .watts, points: [])],
            window: ChartWindow(from: start, to: start + 600)))

    static let onePoint = Sample(
        name: "one-point",
        chart: Chart(
            title: "Just found",
            series: [Series(name: "Lamp", unit: .watts, points: [ChartPoint(time: start + 300, value: 7.5)])],
            window: ChartWindow(from: start, to: start + 600)))

    static let negative = Sample(
        name: "negative",
        chart: Chart(
            title: "Balcony solar",
            series: [
                Series(
                    name: "Inverter", unit: .watts,
                    points: points(720, every: 60) { min(0, Double(abs($0 - 360)) - 300) })
            ], zone: centralEurope))

    /// The night of 2026-10-25, when the clocks of Central Europe go back at 01:00 UTC.
    static let daylightSaving: Sample = {
        let change = 1_792_890_000.0
        let zone = ZoneOffsets(initial: 7200, transitions: [.init(time: change, seconds: 3600)])
        let points = (0..<12).map { ChartPoint(time: change + Double($0 - 6) * 3600, value: Double($0 % 4) * 20) }
        return Sample(
            name: "daylight-saving",
            chart: Chart(
                title: "An hour twice", series: [Series(name: "Heater", unit: .watts, points: points)], zone: zone))
    }()

    static let year = Sample(
        name: "year",
        chart: Chart(
            title: "A year",
            series: [
                Series(
                    name: "House", unit: .wattHours,
                    points: points(365, every: 86_400) { 9000 + Double(abs($0 - 180)) * 60 })
            ]))

    static let standby = Sample(
        name: "standby",
        chart: Chart(
            title: "Standby",
            series: [
                Series(name: "Charger", unit: .watts, points: points(60, every: 1) { 0.03 + Double($0 % 3) / 100 })
            ]),
        rows: 10)
}
