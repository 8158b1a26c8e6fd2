import DurableFiles
import PlugHardware

/// Calibrating a plug from beside it, whether it runs or not.
public enum PlugCalibration {
    /// - Parameter board: what it is made of, asked for where no plugd runs.
    /// - Returns: what was found, in words.
    /// - Throws: `CalibrationFault`, `HardwareFault`, `FileError`, ``PanelError``, or what `board` throws.
    public static func perform(
        _ load: KnownLoad, at plug: PlugDirectories,
        board: () throws -> (meter: BoardMeter, calibration: CalibrationFile)
    ) async throws -> String {
        let lock: DirectoryLock
        do throws(FileError) {
            lock = try DirectoryLock(plug.state)
        } catch {
            // Whoever works in the directory is the plug itself.
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
