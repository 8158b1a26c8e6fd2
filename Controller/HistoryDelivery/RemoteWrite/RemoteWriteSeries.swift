import PlugModel
import PowerHistory
import SwiftProtobuf

/// Converts values to remote-write series. Names and units are those of the dashboard's `/metrics`.
struct RemoteWriteSeries: Sendable {
    let house: String
    let labels: [(key: String, value: String)]

    /// Returns encoded requests, each with a limited number of values.
    func requests(_ values: RemoteWriteMemory.Values, names: [PlugID: String], atMost limit: Int) -> [[UInt8]] {
        var requests: [[UInt8]] = []
        var request = Prometheus_WriteRequest()
        var count = 0
        func finish() {
            guard count > 0, let bytes: [UInt8] = try? request.serializedBytes() else { return }
            requests.append(bytes)
            (request, count) = (Prometheus_WriteRequest(), 0)
        }
        func add(_ metric: String, _ plug: PlugID, _ values: [(at: Int64, value: Double)]) {
            var rest = values[...]
            while !rest.isEmpty {
                let piece = rest.prefix(limit - count)
                rest = rest.dropFirst(piece.count)
                request.timeseries.append(series(metric, plug, names[plug] ?? "", piece))
                count += piece.count
                if count >= limit { finish() }
            }
        }
        for (plug, samples) in values.samples.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            add("smartplug_active_power_watts", plug, samples.map { ($0.at, $0.sample.activePower) })
            add(
                "smartplug_voltage_volts", plug,
                samples.compactMap { one in one.sample.voltageRMS.map { (one.at, $0) } })
            add(
                "smartplug_current_amperes", plug,
                samples.compactMap { one in one.sample.currentRMS.map { (one.at, $0) } })
        }
        for (plug, counters) in values.counters.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            add(
                "smartplug_active_energy_joules_total", plug,
                counters.map { ($0.at, (Double($0.milliwattHours) * 3.6).rounded()) })
        }
        finish()
        return requests
    }

    private func series(
        _ metric: String, _ plug: PlugID, _ name: String, _ values: ArraySlice<(at: Int64, value: Double)>
    ) -> Prometheus_TimeSeries {
        var pairs = [("__name__", metric), ("house", house), ("id", plug.rawValue)] + labels.map { ($0.key, $0.value) }
        // An empty label counts as missing.
        if !name.isEmpty { pairs.append(("plug", name)) }
        var series = Prometheus_TimeSeries()
        series.labels = pairs.sorted { $0.0 < $1.0 }.map { key, value in
            var label = Prometheus_Label()
            (label.name, label.value) = (key, value)
            return label
        }
        series.samples = values.map { at, value in
            var sample = Prometheus_Sample()
            (sample.timestamp, sample.value) = (at, value)
            return sample
        }
        return series
    }
}
