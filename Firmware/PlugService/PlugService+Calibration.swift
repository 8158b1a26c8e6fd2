import LinuxSystem
import NIOCore
import PlugHardware

/// Carries out `plugd calibrate` on a running plug.
extension PlugService {
    /// Measures the connected load, writes the calibration file and uses the new calibration.
    ///
    /// - Returns: A description of the calibration for the user.
    func calibrate(_ load: KnownLoad) async throws -> String {
        guard let board = settings.board else {
            throw PanelError("this plug has no meter that can be calibrated")
        }
        guard machine.state.relayOn else {
            throw PanelError("the relay is off\nhint: plug in the load of \(load.power) W and turn the plug on")
        }
        guard self.meter.beginCalibrating() else { throw PanelError("a calibration is already in progress") }
        defer { self.meter.endCalibrating() }
        let meter = board.meter
        let found = try await load.calibration(of: meter) { reading in
            await onMeterThread(reading)
        } pause: {
            try? await Task.sleep(for: KnownLoad.pause)
        }
        let file = board.calibration
        // The file is written on the meter thread: the next measurement waits for it, the relay does not.
        let fault: FileError? = await onMeterThread {
            do throws(FileError) {
                try file.write(found)
                meter.use(found)
                return nil
            } catch {
                return error
            }
        }
        if let fault { throw fault }
        logger.notice("calibrated: \(found.words)")
        return "\(found.words)\nwritten to \(file.path)"
    }

    private func onMeterThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { waiter in
            meter.perform(work, on: loop) { waiter.resume(returning: $0) }
        }
    }
}

extension Calibration {
    /// The calibration for the user: `power_gain 1.0123, …`.
    var words: String { values.map { "\($0.name) \($0.value)" }.joined(separator: ", ") }
}
