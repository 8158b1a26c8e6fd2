import Glibc
import TestSupport

extension TestFolder {
    /// The names in the folder, sorted.
    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func mode(of name: String) -> UInt32 {
        var status = stat()
        stat(path + "/" + name, &status)
        return status.st_mode & 0o7777
    }
}
