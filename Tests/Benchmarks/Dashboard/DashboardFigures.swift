import Foundation

/// Measures the dashboard in a browser, and a daemon with 100 plugs and a year of history.
@Sendable
func dashboardFigures(_ setting: Setting) async throws -> [Figure] {
    let seconds = setting.isFull ? 600 : setting.times(60, few: 3)
    let plugs = setting.times(100, few: 5)
    let measured = try MeasuredLAN(
        by: "dashboard_house.py",
        [
            setting.program(), setting.programFolder(), "\(plugs)", "\(setting.times(365, few: 16))", "\(seconds)",
            "\(setting.times(10, few: 2))", "\(setting.times(60, few: 15))",
        ])
    return try painting(measured, plugs) + showing(measured, plugs) + crowd(measured) + resting(measured)
}

/// Measures the time from navigation to the first card that shows its power. The reference is a static copy of the
/// rendered page, with scripts of equal size, served by nginx.
private func painting(_ house: MeasuredLAN, _ plugs: Int) throws -> [Figure] {
    let page = Figure.Reference(name: "static page, nginx", value: try house.median("static paint"))
    return [
        Figure("first useful paint, \(plugs) plugs", try house.median("paint"), "ms", against: page, .ratioAtMost(3)),
        Figure("bytes of the page", try house.median("page bytes") / 1000, "kB"),
    ]
}

/// Measures the time from the plug's timestamp of an event to the changed page. Plug and browser use the
/// clock of the same machine.
private func showing(_ house: MeasuredLAN, _ plugs: Int) throws -> [Figure] {
    let shown = try house.all("shown").sorted()
    return [
        Figure("plug's event to changed page, \(plugs) plugs, median", shown.median, "ms", .atMost(100)),
        Figure("the same, p95", shown[shown.count * 95 / 100], "ms"),
    ]
}

private func crowd(_ house: MeasuredLAN) throws -> [Figure] {
    let alone = Figure.Reference(name: "1 reader", value: try house.median("heard alone"))
    return [
        Figure(
            "memory that 50 readers add, of whom 10 never read", try house.median("memory of readers") / 1000, "MB",
            .atMost(10)),
        Figure("event to a reader among them, median", try house.median("heard in a crowd"), "ms", against: alone),
    ]
}

private func resting(_ house: MeasuredLAN) throws -> [Figure] {
    [
        Figure("daemon, of one core", try house.median("processor") * 100, "%", .atMost(5)),
        Figure("  without dashboard", try house.median("processor, no dashboard") * 100, "%"),
        Figure("  without dashboard and history", try house.median("processor, no history") * 100, "%"),
        Figure("  with an open page", try house.median("processor, page") * 100, "%"),
        Figure("daemon, anonymous memory", try house.median("memory") / 1000, "MB", .atMost(80)),
        Figure("  without dashboard", try house.median("memory, no dashboard") / 1000, "MB"),
        Figure("  without dashboard and history", try house.median("memory, no history") / 1000, "MB"),
        Figure("  without plugs", try house.median("memory, no plugs") / 1000, "MB"),
        Figure("daemon, resident memory", try house.median("resident") / 1000, "MB", .atMost(80)),
    ]
}
