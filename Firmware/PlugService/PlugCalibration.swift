import LinuxSystem
import PlugHardware

/// Calibrates a plug locally, whether plugd runs or not.
public enum PlugCalibration {
    /// Calibrates with a load, through the panel if a plugd runs.
    ///
    /// - Parameter board: Provides the meter and the calibration file. Called only if no plugd runs.
    /// - Returns: A description of the calibration for the user.
    /// - Throws: `CalibrationFault`, `HardwareFault`, `FileError`, ``PanelError``, or an error of `board`.
    public static func perform(
        _ load: KnownLoad, at plug: PlugDirectories,
        board: () throws -> (meter: BoardMeter, calibration: CalibrationFile)
    ) async throws -> String {
        let lock: DirectoryLock
        do throws(FileError) {
            lock = try DirectoryLock(plug.state)
        } catch {
            // A running plugd holds the lock.
            guard case .held = error.reason else { throw error }
            return try await PanelClient.ask(.calibrate(load), at: plug)
        }
        defer { withExtendedLifetime(lock) {} }
        let (meter, file) = try board()
        let found = try await load.calibration(of: meter) {
            $0()
        } pause: {
            try? await Task.sleep(for: KnownLoad.pause)
        }
        try file.write(found)
        return "\(found.words)\nwritten to \(file.path)"
    }
}
