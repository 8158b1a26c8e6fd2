import Presentation

/// The metrics for Prometheus, in base units as its naming rules require.
struct Metrics {
    /// Values of the process.
    struct Process: Hashable {
        /// The start time in seconds since 1970.
        var start: Double
        /// The resident memory in bytes; nil if the kernel does not report it.
        var residentMemory: Double?
        var streamReaders: Int
        /// The number of answers per status.
        var requests: [Int: UInt64]
    }

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private var text = MetricsText()
    private let plugs: [HouseBoard.Plug]

    static func text(_ board: HouseBoard, _ process: Process) -> String {
        var metrics = Metrics(board)
        metrics.addPlugs()
        metrics.addReadings()
        metrics.addSleepers()
        metrics.addRules(board.rules)
        metrics.add(process)
        return metrics.text.text
    }

    private init(_ board: HouseBoard) {
        plugs = board.plugs.values.sorted { $0.record.plug < $1.record.plug }
    }

    private mutating func each(
        _ name: String, _ help: String, as kind: MetricsText.Kind = .gauge, _ value: (HouseBoard.Plug) -> Double?
    ) {
        text.add(
            name, kind, help,
            plugs.compactMap { plug in value(plug).map { ([("plug", plug.record.plug)], $0) } })
    }

    private mutating func addPlugs() {
        text.add(
            "smartplug_info", .gauge, "A plug that the daemon knows.",
            plugs.filter { $0.id != nil }.map { plug in
                let record = plug.record
                return (
                    [("plug", record.plug), ("id", record.id ?? ""), ("firmware", record.firmware ?? "")], 1
                )
            })
        each("smartplug_connected", "1 if the plug is connected, otherwise 0.") { $0.isConnected ? 1 : 0 }
        each("smartplug_relay_on", "1 if the plug's relay is on, otherwise 0.") { $0.record.on.map { $0 ? 1 : 0 } }
        each("smartplug_level_ratio", "Level of the plug's dimmer, 0 to 1.") { $0.record.level.map { $0 / 100 } }
        text.add(
            "smartplug_protection_tripped", .gauge, "The protection that keeps the plug's relay open.",
            plugs.compactMap { plug in
                plug.record.tripped.map { ([("plug", plug.record.plug), ("protection", $0)], 1) }
            })
        text.add(
            "smartplug_events_total", .counter, "Events of the plug's journal since the daemon's start.",
            plugs.flatMap { plug in
                plug.eventCounts.sorted { $0.key < $1.key }.map {
                    ([("plug", plug.record.plug), ("event", $0.key)], Double($0.value))
                }
            })
        each("smartplug_disconnections_total", "Disconnections of the plug since the daemon's start.", as: .counter) {
            Double($0.disconnections)
        }
    }

    private mutating func addReadings() {
        func reading(_ value: @escaping (ReadingRecord) -> Double?) -> (HouseBoard.Plug) -> Double? {
            { $0.record.reading.flatMap(value) }
        }
        each("smartplug_active_power_watts", "Active power, W.", reading(\.activePower))
        each("smartplug_apparent_power_voltamperes", "Apparent power, VA.", reading(\.apparentPower))
        each("smartplug_reactive_power_vars", "Reactive power, var.", reading(\.reactivePower))
        each("smartplug_voltage_volts", "RMS voltage, V.", reading(\.voltageRMS))
        each("smartplug_current_amperes", "RMS current, A.", reading(\.currentRMS))
        each("smartplug_power_factor_ratio", "Active power divided by apparent power, -1 to 1.", reading(\.powerFactor))
        each("smartplug_frequency_hertz", "Frequency of the mains, Hz.", reading(\.frequency))
        each(
            "smartplug_active_energy_joules_total", "Active energy since the plug's last factory reset, J.",
            as: .counter,
            reading { ($0.activeEnergy * 3600).rounded() })
    }

    /// Adds the hosts at the sleep proxies. A host with two cards is two sleepers, so the card is a label.
    private mutating func addSleepers() {
        var asleep: [(labels: MetricsText.Labels, value: Double)] = []
        var slept = asleep
        var wakes = asleep
        for plug in plugs {
            for sleeper in plug.record.sleepers ?? [] {
                let labels: MetricsText.Labels = [
                    ("plug", plug.record.plug), ("host", sleeper.host), ("card", sleeper.card),
                ]
                asleep.append((labels, sleeper.isAsleep ? 1 : 0))
                slept.append((labels, Double(sleeper.sleptSeconds)))
                for (cause, count) in sleeper.wakes.sorted(by: { $0.key < $1.key }) {
                    var labels = labels
                    labels.append(("cause", cause))
                    wakes.append((labels, Double(count)))
                }
            }
        }
        text.add(
            "smartplug_sleeper_asleep", .gauge, "1 if the host sleeps at the plug's sleep proxy, otherwise 0.", asleep)
        // Without the current sleep: it is known only with an error of some milliseconds, and a counter must not
        // decrease.
        text.add(
            "smartplug_sleeper_slept_seconds_total", .counter,
            "Duration of the host's sleeps that have ended, since the start of the plug's firmware, s.", slept)
        text.add(
            "smartplug_sleeper_wakes_total", .counter,
            "Wakes of the host by the plug's sleep proxy, since the start of the plug's firmware.", wakes)
    }

    private mutating func addRules(_ rules: RuleBoard) {
        text.add(
            "smartplug_rule_firings_total", .counter, "Firings of the rule since the daemon's start.",
            rules.records.map { ([("rule", $0.rule)], Double($0.firings)) })
        text.add(
            "smartplug_rule_held_back_total", .counter,
            "Firings of the rule that were held back since the daemon's start.",
            rules.records.map { ([("rule", $0.rule)], Double(rules.heldBack[$0.rule] ?? 0)) })
        text.add(
            "smartplug_rule_near_misses_total", .counter,
            "Times since the daemon's start that the rule's trigger was met, but not for its whole dwell.",
            rules.records.map { ([("rule", $0.rule)], Double(rules.nearMisses[$0.rule] ?? 0)) })
        text.add(
            "smartplug_rule_enabled", .gauge, "1 if the rule is enabled, otherwise 0.",
            rules.records.map { ([("rule", $0.rule)], $0.enabled ? 1 : 0) })
    }

    private mutating func add(_ process: Process) {
        text.add(
            "smartplug_stream_readers", .gauge, "Clients that read the live stream.",
            [([], Double(process.streamReaders))])
        text.add(
            "smartplug_http_requests_total", .counter, "Requests answered since the daemon's start.",
            process.requests.sorted { $0.key < $1.key }.map { ([("status", "\($0.key)")], Double($0.value)) })
        text.add(
            "process_start_time_seconds", .gauge, "Start time of the daemon, seconds since 1970.", [([], process.start)]
        )
        text.add(
            "process_resident_memory_bytes", .gauge, "Memory of the daemon, bytes.",
            process.residentMemory.map { [([], $0)] } ?? [])
    }
}
