import PlugModel
import Testing

@testable import Dashboard

@Suite struct APIMetricsTests {
    private let process = Metrics.Process(
        start: 1_795_251_683.456, residentMemory: 20_971_520, streamReaders: 2, requests: [200: 7, 404: 1])

    @Test("A house is exported as metric families")
    func aHouseIsToldInFamilies() {
        var board = HouseBoard()
        _ = board.hear(connected())
        _ = board.hear(.snapshot(state(level: 40)))
        _ = board.hear(event(1))
        #expect(
            Metrics.text(board, process) == """
                # HELP smartplug_info A plug that the daemon knows.
                # TYPE smartplug_info gauge
                smartplug_info{plug="Lamp",id="0123456789ab",firmware="1.2.3"} 1
                # HELP smartplug_connected 1 if the plug is connected, otherwise 0.
                # TYPE smartplug_connected gauge
                smartplug_connected{plug="Lamp"} 1
                # HELP smartplug_relay_on 1 if the plug's relay is on, otherwise 0.
                # TYPE smartplug_relay_on gauge
                smartplug_relay_on{plug="Lamp"} 1
                # HELP smartplug_level_ratio Level of the plug's dimmer, 0 to 1.
                # TYPE smartplug_level_ratio gauge
                smartplug_level_ratio{plug="Lamp"} 0.4
                # HELP smartplug_events_total Events of the plug's journal since the daemon's start.
                # TYPE smartplug_events_total counter
                smartplug_events_total{plug="Lamp",event="button"} 1
                # HELP smartplug_disconnections_total Disconnections of the plug since the daemon's start.
                # TYPE smartplug_disconnections_total counter
                smartplug_disconnections_total{plug="Lamp"} 0
                # HELP smartplug_active_power_watts Active power, W.
                # TYPE smartplug_active_power_watts gauge
                smartplug_active_power_watts{plug="Lamp"} 60.4
                # HELP smartplug_voltage_volts RMS voltage, V.
                # TYPE smartplug_voltage_volts gauge
                smartplug_voltage_volts{plug="Lamp"} 230.1
                # HELP smartplug_current_amperes RMS current, A.
                # TYPE smartplug_current_amperes gauge
                smartplug_current_amperes{plug="Lamp"} 0.263
                # HELP smartplug_active_energy_joules_total Active energy since the plug's last factory reset, J.
                # TYPE smartplug_active_energy_joules_total counter
                smartplug_active_energy_joules_total{plug="Lamp"} 44442
                # HELP smartplug_stream_readers Clients that read the live stream.
                # TYPE smartplug_stream_readers gauge
                smartplug_stream_readers 2
                # HELP smartplug_http_requests_total Requests answered since the daemon's start.
                # TYPE smartplug_http_requests_total counter
                smartplug_http_requests_total{status="200"} 7
                smartplug_http_requests_total{status="404"} 1
                # HELP process_start_time_seconds Start time of the daemon, seconds since 1970.
                # TYPE process_start_time_seconds gauge
                process_start_time_seconds 1795251683.456
                # HELP process_resident_memory_bytes Memory of the daemon, bytes.
                # TYPE process_resident_memory_bytes gauge
                process_resident_memory_bytes 20971520

                """)
    }

    @Test("The hosts at a sleep proxy are exported per plug and card")
    func sleepers() {
        var plug = state()
        plug.sleepers = [
            PlugSleeper(
                host: "nas.local", card: "02:00:00:00:00:10", asleepSince: .zero, sleptSeconds: 3600, sleeps: 2,
                wakes: [.datagram: 1, .connection: 2], lastCause: .datagram),
            PlugSleeper(host: "desk.local", card: "02:00:00:00:00:11", sleptSeconds: 5, sleeps: 1),
        ]
        var board = HouseBoard()
        _ = board.hear(connected())
        _ = board.hear(.snapshot(plug))
        let lines = Metrics.text(board, process).split(separator: "\n").filter { $0.hasPrefix("smartplug_sleeper") }
        let (nas, desk) = (
            #"{plug="Lamp",host="nas.local",card="02:00:00:00:00:10""#,
            #"{plug="Lamp",host="desk.local",card="02:00:00:00:00:11""#
        )
        #expect(
            lines.map(String.init) == [
                "smartplug_sleeper_asleep\(nas)} 1", "smartplug_sleeper_asleep\(desk)} 0",
                "smartplug_sleeper_slept_seconds_total\(nas)} 3600", "smartplug_sleeper_slept_seconds_total\(desk)} 5",
                "smartplug_sleeper_wakes_total\(nas),cause=\"connection\"} 2",
                "smartplug_sleeper_wakes_total\(nas),cause=\"datagram\"} 1",
            ])
    }

    @Test("In a label value, a quotation mark is escaped even before a combining character")
    func aNameIsEscapedByScalars() {
        var text = MetricsText()
        text.add("x", .gauge, "X.", [([("plug", "a\\b\"\u{301}c\nd")], .nan)])
        #expect(text.text.hasSuffix("x{plug=\"a\\\\b\\\"\u{301}c\\nd\"} nan\n"))
    }
}
