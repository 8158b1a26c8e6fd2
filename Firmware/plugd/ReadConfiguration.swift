import DurableFiles
import PlugConfiguration

/// Where a plug's configuration is looked for if nobody says it.
let usualConfiguration = "/etc/smartplug/plugd.toml"

/// The configuration, or everything that is wrong with it.
///
/// - Returns: nil where nobody named a file and the usual one is not there.
func readConfiguration(_ path: String?) throws -> PlugConfiguration? {
    let file = path ?? usualConfiguration
    let files = FileStore()
    let bytes: [UInt8]
    do {
        guard let found = try files.readIfPresent(file, limit: PlugConfiguration.limit) else {
            guard path != nil else { return nil }
            throw Complaint("there is no \(file)\nhint: give the path of the plug's configuration")
        }
        bytes = found
    } catch let error as FileError {
        throw Complaint(error)
    }
    do {
        return try PlugConfiguration(bytes, file: file)
    } catch {
        throw Complaint("the configuration is refused\n\(error)")
    }
}
