import NIOCore

/// The thread of the meter and the work on it: at most one measurement and one calibration.
struct MeterWork {
    private var thread = LazyThread()
    private(set) var isMeasuring = false
    private var isCalibrating = false

    /// Begins a measurement. Returns false if one is in progress.
    mutating func beginMeasuring() -> Bool { Self.begin(&isMeasuring) }

    mutating func endMeasuring() { isMeasuring = false }

    /// Begins a calibration. Returns false if one is in progress.
    mutating func beginCalibrating() -> Bool { Self.begin(&isCalibrating) }

    mutating func endCalibrating() { isCalibrating = false }

    /// Performs the work on the thread.
    mutating func perform<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, on loop: any EventLoop,
        then report: @escaping @Sendable (Value) -> Void
    ) {
        thread.perform(work, on: loop, then: report)
    }

    /// Stops the thread.
    func stop() { thread.stop() }

    private static func begin(_ isActive: inout Bool) -> Bool {
        defer { isActive = true }
        return !isActive
    }
}
