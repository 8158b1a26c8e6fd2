import ConfigurationFiles
import DurableFiles

/// The settings in a file; nil where there is no such file.
///
/// - Parameters:
///   - limit: bytes that are read.
///   - parse: takes the file's bytes.
func readSettings<Settings>(
    _ path: String, limit: Int, _ parse: ([UInt8]) throws(ConfigurationError) -> Settings
) throws(Complaint) -> Settings? {
    let found: [UInt8]?
    do throws(FileError) {
        found = try FileStore().readIfPresent(path, limit: limit)
    } catch {
        throw Complaint(error)
    }
    guard let found else { return nil }
    do throws(ConfigurationError) {
        return try parse(found)
    } catch {
        throw Complaint("\(error)")
    }
}

/// The same of the first of the usual places where there is such a file: the user's own, or else the machine's.
///
/// - Parameters:
///   - name: of the file.
///   - parse: takes the file's path, too.
func readUsualSettings<Settings>(
    _ name: String, limit: Int, _ parse: (_ bytes: [UInt8], _ path: String) throws(ConfigurationError) -> Settings
) throws(Complaint) -> Settings? {
    for path in [UserDirectories.configuration + "/smartplug/" + name, "/etc/smartplug/" + name] {
        let found = try readSettings(path, limit: limit) { bytes throws(ConfigurationError) in try parse(bytes, path) }
        if let found { return found }
    }
    return nil
}
