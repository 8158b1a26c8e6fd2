import Foundation
import Metering
import PlugHardware
import ProtocolCore
import Recordings
import Synchronization

/// A series of samples for the measurements of chunks and history.
struct MeasuredSeries {
    var samples: [Sample]
    /// The unit of the timestamps in milliseconds.
    var tick: Int64

    /// Reads every recording in the folder completely: time and watts, with times in whole seconds.
    static func recordings(in folder: String) throws -> [MeasuredSeries] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".csv.xz") }
        return try (names ?? []).sorted().map { name in
            let content = try Data(contentsOf: URL(fileURLWithPath: folder).appending(path: name))
            let points = try Recording.parse(Array(content)).points
            return MeasuredSeries(
                samples: points.map { Sample(milliseconds: $0.milliseconds, deciwatts: $0.deciwatts) }, tick: 1000)
        }
    }

    /// Computes a day of every simulated appliance, with one sample per second: time, watts, volts and amperes. Each
    /// sample is up to 0.4 ms after the full second.
    static func models() throws -> [MeasuredSeries] {
        try SimulatedAppliance.allCases.map { appliance in
            let clock = HandMovedClock()
            let mode = appliance.modes.contains(.on) ? .on : appliance.modes[0]
            let plug = SimulatedPlug(load: .appliance(appliance, mode), seed: 1) { clock.now }
            plug.set(on: true)
            var random = SeededRandom(seed: 2)
            let samples = try (0..<86_400 as Range<Int64>).map { second in
                clock.now =
                    Instant(nanoseconds: second * 1_000_000_000) + random.duration(in: .zero ... .microseconds(400))
                return Sample(try plug.measure(), at: clock.now)
            }
            return MeasuredSeries(samples: samples, tick: 1)
        }
    }
}

private final class HandMovedClock: Sendable {
    private let time = Mutex(Instant.zero)
    var now: Instant {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
