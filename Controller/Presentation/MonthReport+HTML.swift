import HouseCalendar
import Terminal

extension MonthReport {
    /// The report as an HTML page without references to other files.
    public var html: String {
        let title = "Energy in \(name(of: month))"
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style>
            body { font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
            svg { width: 100%; height: auto; }
            rect { fill: #0072b2; }
            text { font-size: 11px; fill: #595959; text-anchor: middle; }
            table { border-collapse: collapse; width: 100%; }
            th, td { padding: .3rem .6rem; border-bottom: 1px solid #e6e6e6; text-align: right; }
            th:first-child { text-align: left; font-weight: inherit; }
            thead th, tfoot th:first-child, tfoot td { font-weight: 600; }
            </style>
            </head>
            <body>
            <h1>\(title)</h1>
            <p>\(summary)</p>
            \(budgetLine)
            <h2>By day</h2>
            \(bars)
            <p>\(extremes)</p>
            <h2>By appliance</h2>
            \(table)
            <h2>Base load</h2>
            <p>\(base)</p>
            </body>
            </html>

            """
    }

    private func name(of month: CalendarPeriod) -> String { "\(month.start.monthName) \(month.start.year)" }

    private var energy: Double { days.appliances.reduce(0) { $0 + $1.milliwattHours } }
    private var energyBefore: Double { before.appliances.reduce(0) { $0 + $1.milliwattHours } }

    private var summary: String {
        let cost = total(days.appliances.map(\.cost))
        var values = ["<strong>\(text(energy))</strong>"]
        if let cost { values.append(text(cost)) }
        if let grams = cost?.co2Grams { values.append("\(decimal(grams / 1000, 1)) kg of CO2") }
        var sentences = [values.joined(separator: ", ") + "."]
        if energyBefore > 0 {
            sentences.append("The preceding month had \(text(energyBefore)) (\(change(energy, energyBefore))).")
        }
        if let standing = days.tariff?.standingCharge, standing > 0 {
            sentences.append("The standing charge of \(text(Cost(amount: standing))) per day is not included.")
        }
        return sentences.joined(separator: " ")
    }

    private var budgetLine: String {
        budget.map { "<p>Budget: \(escaped($0.words)).</p>" } ?? ""
    }

    /// One bar per day, with the day's energy as its tooltip.
    private var bars: String {
        let (width, height) = (24.0, 160.0)
        let count = ((Double(month.to - month.from)) / 86_400).rounded()
        let most = max(totals.map(\.milliwattHours).max() ?? 0, 1)
        let bars = totals.map { day, energy in
            let x = Double(day.start.day - 1) * width
            let tall = energy / most * height
            return """
                <rect x="\(decimal(x + 3, 1))" y="\(decimal(height - tall, 1))" width="\(decimal(width - 6, 1))" \
                height="\(decimal(tall, 1))"><title>\(day.start.date): \(text(energy))</title></rect>\
                <text x="\(decimal(x + width / 2, 1))" y="\(decimal(height + 14, 1))">\(day.start.day)</text>
                """
        }
        let box = "0 0 \(decimal(count * width, 0)) \(decimal(height + 18, 0))"
        return """
            <svg viewBox="\(box)" role="img" aria-label="Energy by day">
            \(bars.joined(separator: "\n"))
            </svg>
            """
    }

    private var extremes: String {
        let days = totals.filter { $0.day.to <= end }
        guard let best = days.min(by: { $0.milliwattHours < $1.milliwattHours }),
            let worst = days.max(by: { $0.milliwattHours < $1.milliwattHours })
        else { return "No day is over yet." }
        return """
            Least energy: \(text(best.milliwattHours)) on \(best.day.start.date). Most energy: \(text(worst.milliwattHours)) on \
            \(worst.day.start.date).
            """
    }

    private var table: String {
        let hasCosts = days.tariff != nil
        let titles = ["Energy", "Share"] + (hasCosts ? ["Cost"] : []) + ["Preceding month", "Change"]
        let previous = Dictionary(before.appliances.map { ($0.name, $0.milliwattHours) }) { first, _ in first }
        let rows = days.appliances.sorted { $0.milliwattHours > $1.milliwattHours }.map { appliance in
            let energyBefore = previous[appliance.name] ?? 0
            return row(
                escaped(appliance.name), appliance.milliwattHours, appliance.cost, before: energyBefore)
        }
        let sum = row("All", energy, total(days.appliances.map(\.cost)), before: energyBefore)
        return """
            <table>
            <thead><tr><th>Appliance</th>\(titles.map { "<th>\($0)</th>" }.joined())</tr></thead>
            <tbody>
            \(rows.joined(separator: "\n"))
            </tbody>
            <tfoot>\(sum)</tfoot>
            </table>
            """
    }

    private func row(_ name: String, _ energy: Double, _ cost: Cost?, before: Double) -> String {
        let share = self.energy > 0 ? energy / self.energy * 100 : 0
        let cells =
            [text(energy), "\(decimal(share, 1)) %"] + (days.tariff != nil ? [cost.map(text) ?? "?"] : [])
            + [before > 0 ? text(before) : "–", before > 0 ? change(energy, before) : "–"]
        return "<tr><th>\(name)</th>\(cells.map { "<td>\($0)</td>" }.joined())</tr>"
    }

    private var base: String {
        guard let baseLoad else { return "It is not known: less than a day has data of all appliances." }
        let share = energy > 0 ? baseLoad.milliwattHours / energy * 100 : 0
        let cost = baseLoad.cost.map { " and \(text($0))" } ?? ""
        return """
            In 95 % of the time, all appliances together drew more than \(decimal(baseLoad.watts, 1)) W. This power used \
            \(text(baseLoad.milliwattHours))\(cost), which is \(decimal(share, 0)) % of the month's energy.
            """
    }

    private func text(_ milliwattHours: Double) -> String { "\(decimal(milliwattHours / 1e6, 2)) kWh" }

    private func text(_ cost: Cost) -> String { "\(decimal(cost.amount, 2)) \(escaped(days.tariff?.currency ?? ""))" }

    private func change(_ now: Double, _ before: Double) -> String {
        let percent = (now - before) / before * 100
        return (percent >= 0 ? "+" : "") + "\(decimal(percent, 0)) %"
    }
}

/// Returns text for HTML, without control characters.
private func escaped(_ text: String) -> String {
    safeText(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        .replacing("\"", with: "&quot;")
}
