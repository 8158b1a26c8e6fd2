import LinuxSystem
import PlugModel
import Storage

/// Resets a plug to factory state locally, whether plugd runs or not.
public enum PlugReset {
    /// Resets the plug, through the panel if a plugd runs.
    ///
    /// - Returns: A confirmation for the user.
    /// - Throws: `FileError`, `NoPlugError`, ``PanelError``.
    public static func perform(at plug: PlugDirectories) async throws -> String {
        do {
            // Without /proc the boot id is unknown. Zeros suffice then, because each start then draws a random boot id
            // and rejects every mirror.
            let boot =
                BootIdentifier.current().flatMap { BootID(bytes: $0) } ?? BootID(
                    bytes: [UInt8](repeating: 0, count: 16))!
            try PlugStorage.reset(state: plug.state, runtime: plug.runtime, boot: boot)
            return "reset to factory state"
        } catch let error as FileError {
            // A running plugd holds the lock.
            guard case .held = error.reason else { throw error }
            return try await PanelClient.ask(.reset, at: plug)
        }
    }
}
