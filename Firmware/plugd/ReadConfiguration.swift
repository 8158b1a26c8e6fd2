import LinuxSystem
import PlugConfiguration

/// The configuration file that is used by default.
let usualConfiguration = "/etc/smartplug/plugd.toml"

/// Reads the configuration file.
///
/// - Returns: Nil if no path was given and the default file does not exist.
/// - Throws: ``CLIError`` with all errors of the file.
func readConfiguration(_ path: String?) throws -> PlugConfiguration? {
    let file = path ?? usualConfiguration
    let files = FileStore()
    let bytes: [UInt8]
    do {
        guard let found = try files.readIfPresent(file, limit: PlugConfiguration.limit) else {
            guard path != nil else { return nil }
            throw CLIError("\(file) does not exist\nhint: use the path of the plug's configuration")
        }
        bytes = found
    } catch let error as FileError {
        throw CLIError(error)
    }
    do {
        return try PlugConfiguration(bytes, file: file)
    } catch {
        throw CLIError("the configuration is not valid\n\(error)")
    }
}
