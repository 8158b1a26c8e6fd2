import Foundation
import Glibc

/// An empty folder for a test. It is removed with its contents when the value is released.
///
/// The folder is created in the folder of the run, which the environment variable `SMARTPLUG_TEST_FOLDER` names. The
/// program that sets the variable also removes the folder of the run. Without the variable, the process creates a
/// folder of the run in the system's temporary directory and removes it at its exit.
public final class TestFolder: Sendable {
    /// The storage of a folder.
    public enum Medium: Sendable {
        case disk
        /// A file system in memory if the system has one, else the disk: for tests that would wait for the disk's
        /// synchronization.
        case memory
    }

    /// The path, which is short because the path of a Unix socket has at most 107 bytes.
    public let path: String

    /// Creates the folder; the process ends if that fails.
    public init(on medium: Medium = .disk) {
        path = Self.makeFolder(in: medium == .disk ? Self.run : Self.runInMemory, prefix: "")
    }

    deinit { Self.remove(path) }

    private static let run: String = {
        if let named { return named }
        let made = makeFolder(in: getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp", prefix: "smartplug.")
        atexit { TestFolder.remove(TestFolder.run) }
        return made
    }()

    /// The folder in memory, or the run's folder if the system has no file system in memory. It has the name of the
    /// run's folder, so that the program that removes the run's folder can find it.
    private static let runInMemory: String = {
        guard access("/dev/shm", W_OK) == 0, let name = run.split(separator: "/").last else { return run }
        let folder = "/dev/shm/\(name)"
        if mkdir(folder, 0o700) != 0, errno != EEXIST { return run }
        if named == nil { atexit { TestFolder.remove(TestFolder.runInMemory) } }
        return folder
    }()

    private static var named: String? { getenv("SMARTPLUG_TEST_FOLDER").map { String(cString: $0) } }

    private static func makeFolder(in parent: String, prefix: String) -> String {
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            fatalError("cannot make a folder in \(parent): \(String(cString: strerror(errno)))")
        }
        return String(cString: made)
    }

    /// Removes a folder. The program that removes the folder of the run removes files that remain.
    private static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
