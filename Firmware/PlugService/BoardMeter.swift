public import Metering
public import PlugHardware
import Synchronization

/// The board's meter with its calibration, which can be changed while the plug runs. A driver is made when it is first needed, and
/// tried again at each measurement.
public final class BoardMeter: PowerMeter {
    /// - Parameter isCalibrating: nothing is too small for it, and no gains are taken for a fault.
    public typealias Make =
        @Sendable (Calibration, _ isCalibrating: Bool) throws(HardwareFault) -> any CalibratedMeter

    private struct State {
        var calibration: Calibration
        var meter: (any CalibratedMeter)?
        /// Of the meters before.
        var former = MeterCounters()
    }

    /// Never held while a bus is used.
    private let state: Mutex<State>
    private let make: Make

    public init(_ calibration: Calibration, _ make: @escaping Make) {
        state = Mutex(State(calibration: calibration))
        self.make = make
    }

    public var calibration: Calibration { state.withLock { $0.calibration } }

    public func measure() throws(HardwareFault) -> Measurement { try meter().measure() }

    public var counters: MeterCounters {
        let (former, meter) = state.withLock { ($0.former, $0.meter) }
        return meter.map { former + $0.counters } ?? former
    }

    /// From the next measurement on it measures with this one.
    public func use(_ calibration: Calibration) {
        state.withLock { state in
            if let meter = state.meter { state.former = state.former + meter.counters }
            state.calibration = calibration
            state.meter = nil
        }
    }

    /// With which one finds another: no gains. The phase stays, of which a resistive load says nothing, and which stands in
    /// the chip that the plug's own meter goes on with.
    var uncalibrated: Calibration {
        var plain = Calibration()
        plain.phaseDelay = calibration.phaseDelay
        return plain
    }

    /// A meter of the same chip, as one finds a calibration with.
    func uncalibratedMeter() throws(HardwareFault) -> any CalibratedMeter { try make(uncalibrated, true) }

    /// Only one thread asks, so it is made once.
    private func meter() throws(HardwareFault) -> any CalibratedMeter {
        let (known, calibration) = state.withLock { ($0.meter, $0.calibration) }
        if let known { return known }
        let new = try make(calibration, false)
        state.withLock { $0.meter = new }
        return new
    }
}

extension MeterCounters {
    fileprivate static func + (left: MeterCounters, right: MeterCounters) -> MeterCounters {
        var sum = left
        sum.impossible += right.impossible
        sum.busFaults += right.busFaults
        sum.initialisations += right.initialisations
        return sum
    }
}
