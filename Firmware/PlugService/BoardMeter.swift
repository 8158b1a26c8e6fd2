public import Metering
public import PlugHardware
import Synchronization

/// The board's meter with a calibration that can be changed while the plug runs. The driver is created on first use. If
/// that fails, the next measurement tries again.
public final class BoardMeter: PowerMeter {
    /// A closure that creates the driver for a calibration.
    ///
    /// - Parameter isCalibrating: True for a calibration run, whose driver uses ``MeterLimits/forCalibration``: no
    ///   minimum, and no comparison of the power with volts times amperes.
    public typealias Make =
        @Sendable (Calibration, _ isCalibrating: Bool) throws(HardwareFault) -> any CalibratedMeter

    private struct State {
        var calibration: Calibration
        var meter: (any CalibratedMeter)?
        /// The counters of all previous drivers.
        var former = MeterCounters()
    }

    /// The lock is never held during a transfer on the bus.
    private let state: Mutex<State>
    private let make: Make

    /// Creates a meter with a calibration and a closure that creates its driver.
    public init(_ calibration: Calibration, _ make: @escaping Make) {
        state = Mutex(State(calibration: calibration))
        self.make = make
    }

    /// The calibration of the next measurement.
    public var calibration: Calibration { state.withLock { $0.calibration } }

    /// Measures once.
    ///
    /// - Throws: `HardwareFault` if the driver cannot be created or the chip fails.
    public func measure() throws(HardwareFault) -> Measurement { try meter().measure() }

    /// The counters of all drivers since plugd started.
    public var counters: MeterCounters {
        let (former, meter) = state.withLock { ($0.former, $0.meter) }
        return meter.map { former + $0.counters } ?? former
    }

    /// Replaces the calibration, beginning with the next measurement.
    public func use(_ calibration: Calibration) {
        state.withLock { state in
            if let meter = state.meter { state.former = state.former + meter.counters }
            state.calibration = calibration
            state.meter = nil
        }
    }

    /// The calibration during a calibration run: gains of 1 and no offset. The phase delay is kept, because a resistive
    /// load cannot determine it and the chip stores it for the plug's own meter.
    var uncalibrated: Calibration {
        var plain = Calibration()
        plain.phaseDelay = calibration.phaseDelay
        return plain
    }

    /// Creates a driver of the same chip for a calibration run.
    func uncalibratedMeter() throws(HardwareFault) -> any CalibratedMeter { try make(uncalibrated, true) }

    /// Returns the driver, and creates it if necessary. Only the meter thread calls this, so one driver is created.
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
