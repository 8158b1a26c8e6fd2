import DurableFiles
import LinuxClocks
import PlugModel
import Storage

/// Setting a plug back to factory state from beside it, whether it runs or not.
public enum PlugReset {
    /// - Returns: what was done, in words.
    /// - Throws: `FileError`, `NoPlugError`, ``PanelError``.
    public static func perform(at plug: PlugDirectories) async throws -> String {
        do {
            // Without /proc no mirror is believed anyway.
            let boot =
                BootIdentifier.current().flatMap { BootID(bytes: $0) } ?? BootID(
                    bytes: [UInt8](repeating: 0, count: 16))!
            try PlugStorage.reset(state: plug.state, runtime: plug.runtime, boot: boot)
            return "set back to factory state"
        } catch let error as FileError {
            // Whoever works in the directory is the plug itself.
            guard case .held = error.reason else { throw error }
            return try await PanelClient.ask(.reset, at: plug)
        }
    }
}
