import Appliance
import Metering
import NIOCore
import PlugHardware

/// Controls the parts. A failing part is logged and retried until it works; everything else continues.
extension PlugService {
    /// The time between two attempts. A user who reconnects a cable waits only briefly, and the attempts cause little
    /// work.
    static let partRetry = TimeAmount.seconds(5)

    /// The results of one measurement of meter and thermometer.
    private struct Measured: Sendable {
        var temperature: Result<Int16, HardwareFault>?
        var measurement: Result<Measurement, HardwareFault>?
    }

    /// Reads meter and thermometer on a separate thread, because a bus may be stuck. Only one measurement runs at a
    /// time.
    func readMeter() {
        let (meter, thermometer) = (settings.parts.meter, settings.parts.thermometer)
        guard meter != nil || thermometer != nil, self.meter.beginMeasuring() else { return }
        let work: @Sendable () -> Measured = {
            Measured(
                temperature: thermometer.map { part in
                    Result { () throws(HardwareFault) in try part.temperature() }
                },
                measurement: meter.map { part in Result { () throws(HardwareFault) in try part.measure() } })
        }
        self.meter.perform(work, on: loop) { [weak self] measured in self?.assumeIsolated { $0.took(measured) } }
    }

    private func took(_ measured: Measured) {
        meter.endMeasuring()
        switch measured.temperature {
        case .success(let temperature):
            note("read the thermometer", nil)
            handle(.appliance(.temperature(temperature)))
        case .failure(let fault):
            note("read the thermometer", fault)
            handle(.appliance(.temperature(nil)))
        case nil: break
        }
        switch measured.measurement {
        case .success(let measurement):
            note("read the meter", nil)
            logger.trace("measured \(measurement.deciwatts) dW")
            handle(.appliance(.measured(measurement)))
        case .failure(let fault):
            note("read the meter", fault)
            handle(.appliance(.meterFailed))
        case nil: break
        }
        resumeShutdownIfIdle()
    }

    /// Performs work on a part. If it fails, the last work for the same purpose is retried.
    func attempt(_ what: String, _ work: @escaping () throws(HardwareFault) -> Void) {
        do throws(HardwareFault) {
            try work()
            note(what, nil)
            faults.succeeded(what)
        } catch {
            failed(what, error, againBy: work)
        }
    }

    /// Records the failure of a part and schedules a retry.
    func failed(
        _ what: String, _ fault: HardwareFault, againBy work: @escaping () throws(HardwareFault) -> Void
    ) {
        note(what, fault)
        faults.postpone(what, work)
        retryParts()
    }

    /// Leaves the relay in the state that it should have while no plugd runs.
    func releaseRelay() async {
        guard let relay = settings.parts.relay else { return }
        do throws(HardwareFault) {
            try await relay.release(keeping: settings.keepsRelayOnExit)
        } catch {
            note("set the final state of the relay", error)
        }
    }

    private func retryParts() {
        faults.scheduleRetry {
            loop.scheduleTask(in: Self.partRetry) { [weak self] in
                guard let self else { return }
                assumeIsolated { service in
                    for (what, work) in service.faults.takeRetry() { service.attempt(what, work) }
                }
            }
        }
    }

    /// Logs a fault once when it appears, and once when it ends.
    private func note(_ what: String, _ fault: HardwareFault?) {
        switch faults.note(what, fault) {
        case .failed(let fault): logger.error("cannot \(what): \(fault)")
        case .works: logger.notice("can \(what) again")
        case nil: break
        }
    }
}
