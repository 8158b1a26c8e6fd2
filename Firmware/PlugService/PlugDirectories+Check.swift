import FirmwareProcess
public import LinuxSystem
public import PlugModel

extension PlugDirectories {
    /// The errors that prevent a plugd of the current user from writing to its directories.
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

    /// The last abnormal end of the firmware that a later start has processed, or nil.
    public var lastCrash: PlugCrash? {
        guard let boot = BootIdentifier.current().flatMap({ BootID(bytes: $0) }) else { return nil }
        return try? CrashReports(state: state, runtime: runtime, boot: boot).last()
    }
}
