import CrashReports
public import DurableFiles
import LinuxClocks
public import PlugModel

extension PlugDirectories {
    /// What keeps a plug of this process's user from working in its directories.
    public var faults: [FileError] {
        Set([state, runtime]).sorted().compactMap { directory -> FileError? in
            do throws(FileError) {
                try FileStore().checkWritable(directory)
                return nil
            } catch {
                return error
            }
        }
    }

    /// The last end of the firmware that was not in order, as far as its next start has taken it over.
    public var lastCrash: PlugCrash? {
        guard let boot = BootIdentifier.current().flatMap({ BootID(bytes: $0) }) else { return nil }
        return try? CrashReports(state: state, runtime: runtime, boot: boot).last()
    }
}
