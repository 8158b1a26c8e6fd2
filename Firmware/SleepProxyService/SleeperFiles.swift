import LinuxSystem
import Logging
import SleepProxy

/// The files with the sleeping hosts, one per interface. They contain the passwords of wake-ups, so only the owner can
/// read them.
struct SleeperFiles {
    private let directory: String
    private let files = FileStore()
    private let logger: Logger

    init(directory: String, logger: Logger) {
        (self.directory, self.logger) = (directory, logger)
    }

    /// Returns the stored hosts; nil if the file is missing or damaged.
    func read(_ interface: String) -> StoredSleepers? {
        do throws(FileError) {
            guard let bytes = try files.readSecretIfPresent(path(interface), limit: StoredSleepers.sizeLimit) else {
                return nil
            }
            do throws(StoredSleepersError) {
                return try StoredSleepers(decoding: bytes)
            } catch {
                logger.warning(
                    "\(path(interface)) is damaged (\(error)): hosts that sleep now are not found until they wake up")
            }
        } catch {
            logger.warning("cannot read the sleeping hosts: \(error)")
        }
        return nil
    }

    /// Replaces the stored hosts. An error is logged.
    func write(_ stored: StoredSleepers, _ interface: String) {
        do throws(FileError) {
            try files.makeDirectories(directory)
            try files.replaceSecret(path(interface), with: stored.encoded)
        } catch {
            logger.warning("cannot store the sleeping hosts, so a restart of plugd loses them: \(error)")
        }
    }

    private func path(_ interface: String) -> String { "\(directory)/sleepers-\(interface)" }
}
