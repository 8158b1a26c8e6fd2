import ConfigurationFiles
import Effects
import LinuxSystem
import Processes

/// The policies for effects of rules outside of the house: the machine's file and the user's own, which both apply.
enum OutsideFile {
    static let places = ["/etc/smartplug/daemon.toml", UserDirectories.configuration + "/smartplug/daemon.toml"]

    /// Reads the policies. An invalid file is reported and permits nothing.
    static func limits() -> [OutsideLimits] {
        places.compactMap { path in
            do throws(CLIError) {
                return try read(path)
            } catch {
                complainOfFile(
                    """
                    \(error)
                    hint: correct the file and restart plugctl; until then, rules run no programs and call no web hooks
                    """)
                let first = "\(error)".split(separator: "\n").first.map(String.init) ?? ""
                return .unreadable(path, "the daemon's settings are not valid: \(first)")
            }
        }
    }

    /// Returns nil if the file is missing.
    private static func read(_ path: String) throws(CLIError) -> OutsideLimits? {
        try readSettings(path, limit: OutsideLimits.fileLimit) { bytes throws(ConfigurationError) in
            try OutsideLimits(bytes, file: path, home: UserDirectories.home)
        }
    }
}

extension EffectPolicy {
    /// Reads the policies. Prints a warning if programs of rules could read the keys of this controller.
    ///
    /// - Parameters:
    ///   - secrets: Files and directories of the daemon that no program may read.
    ///   - socket: The path of the daemon's socket.
    static func read(keeping secrets: Secrets, socket: String?) -> EffectPolicy {
        let limits = OutsideFile.limits()
        if keepsKeys(limits), !canKeepKeys {
            printError(
                """
                programs that rules run can read the keys of this controller, because the kernel lacks Landlock (Linux 5.13)
                hint: limit the programs with [outside] run in \(OutsideFile.places[0])
                """)
        }
        return EffectPolicy(limits: limits, keeping: secrets, socket: socket)
    }
}
