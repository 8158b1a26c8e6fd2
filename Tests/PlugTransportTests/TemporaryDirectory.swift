import Glibc
import Testing

/// A directory of its own for a test, removed at the end together with the files in it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/plug-transport-XXXXXX".utf8CString)
        path = String(cString: try #require(mkdtemp(&template)))
    }

    deinit {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                unlink(path + "/" + name)
            }
            closedir(directory)
        }
        rmdir(path)
    }
}
