import Foundation
import Glibc

/// A folder of its own for a test, which is empty at first. It is removed with everything in it when the value is released.
///
/// It lies in the folder of the run: that one is named by the environment variable `SMARTPLUG_TEST_FOLDER` and removed by the
/// program that set it. Without the variable the process makes one in the system's temporary directory, and removes it when it exits.
public final class TestFolder: Sendable {
    public enum Medium: Sendable {
        case disk
        /// Memory where the system has a file system in it, else the disk: for tests that a disk which synchronises would hold up.
        case memory
    }

    /// Short, since the path of a Unix socket has 107 bytes at most.
    public let path: String

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

    /// It has the name of the run's folder, so that the program that removes the one knows the other.
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

    /// What cannot be removed is left to the program that removes the folder of the run.
    private static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
