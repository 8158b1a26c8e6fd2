import Glibc
public import PlugHardware

/// An attribute file of the kernel, such as those of hwmon and iio. It is opened for each reading, so that a device may
/// disappear and return.
public struct FileAttribute: AttributeFile {
    /// The path of the file.
    public let path: String

    /// Creates a reader without accessing the file.
    public init(path: String) { self.path = path }

    public func read() throws(HardwareFault) -> String {
        do {
            return try SystemFile.read(path)
        } catch {
            let reason =
                switch error.code {
                case ENOENT, ENODEV: "it does not exist: is the driver loaded? (ls \(folder))"
                case EACCES, EPERM: "permission denied: let plugd's user read it"
                default: error.description.lowercased()
                }
            throw HardwareFault(part: path, reason: reason)
        }
    }

    private var folder: Substring { path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }
}
