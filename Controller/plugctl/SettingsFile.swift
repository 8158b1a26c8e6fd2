import ConfigurationFiles
import LinuxSystem

/// Reads a settings file; nil if the file is missing.
///
/// - Parameters:
///   - limit: The maximum size of the file in bytes.
///   - parse: Receives the file's bytes.
func readSettings<Settings>(
    _ path: String, limit: Int, _ parse: ([UInt8]) throws(ConfigurationError) -> Settings
) throws(CLIError) -> Settings? {
    let found: [UInt8]?
    do throws(FileError) {
        found = try FileStore().readIfPresent(path, limit: limit)
    } catch {
        throw CLIError(error)
    }
    guard let found else { return nil }
    do throws(ConfigurationError) {
        return try parse(found)
    } catch {
        throw CLIError("\(error)")
    }
}

/// The paths of a settings file: the user's own, then the machine's.
func usualPaths(_ name: String) -> [String] {
    [UserDirectories.configuration + "/smartplug/" + name, "/etc/smartplug/" + name]
}

/// Reads a settings file of the daemon: the user's own, otherwise the machine's. Returns nil if it is missing or invalid. An
/// invalid file is reported, and the daemon runs without it.
///
/// - Parameters:
///   - name: The file's name.
///   - limit: The maximum size of the file in bytes.
///   - consequence: The state until the file is corrected, as part of a sentence.
///   - parse: Receives the file's bytes, its path and the user's home directory.
func daemonSettings<Settings>(
    _ name: String, limit: Int, untilCorrected consequence: String,
    _ parse: (_ bytes: [UInt8], _ file: String, _ home: String) throws(ConfigurationError) -> Settings
) -> Settings? {
    do throws(CLIError) {
        return try readUsualSettings(name, limit: limit) { bytes, path throws(ConfigurationError) in
            try parse(bytes, path, UserDirectories.home)
        }
    } catch {
        complainOfFile("\(error)\nhint: correct the file and restart the daemon; until then, \(consequence)")
        return nil
    }
}

/// Reads the first existing settings file: the user's own, otherwise the machine's.
///
/// - Parameters:
///   - name: The file's name.
///   - parse: Receives the file's bytes and path.
func readUsualSettings<Settings>(
    _ name: String, limit: Int, _ parse: (_ bytes: [UInt8], _ path: String) throws(ConfigurationError) -> Settings
) throws(CLIError) -> Settings? {
    for path in usualPaths(name) {
        let found = try readSettings(path, limit: limit) { bytes throws(ConfigurationError) in try parse(bytes, path) }
        if let found { return found }
    }
    return nil
}
