internal import Glibc

/// Where a file is: its folder by the one path that has no links in it, and its name there. Two places are the same file's name exactly
/// when they are equal. What a name leads to where it is a link is another question.
struct FilePlace: Hashable, Sendable {
    let folder: String
    let name: String

    var path: String { Self.joined(folder, name) }

    /// - Parameter path: relative ones are taken from the process's folder. As much of it as is there is made free of links.
    /// - Returns: nil where it ends in no name.
    init?(_ path: String) {
        guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
        let slash = path.lastIndex(of: "/")
        name = slash.map { String(path[$0...].dropFirst()) } ?? path
        guard name != "", name != ".", name != ".." else { return nil }
        let written = slash.map { String(path[..<$0]) } ?? "."
        guard let folder = Self.withoutLinks(written.isEmpty ? "/" : written) else { return nil }
        self.folder = folder
    }

    /// The program that a start by this name would find, as execvp(3) looks for it; nil where there is none.
    init?(ofProgram name: String) {
        if name.utf8.contains(UInt8(ascii: "/")) {
            self.init(name)
            return
        }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        for folder in path.split(separator: ":", omittingEmptySubsequences: false) where !name.isEmpty {
            let candidate = (folder.isEmpty ? "." : folder) + "/" + name
            guard access(candidate, X_OK) == 0, !Self.isFolder(candidate) else { continue }
            self.init(candidate)
            return
        }
        return nil
    }

    static func joined(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/" + name : folder + "/" + name
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func withoutLinks(_ folder: String) -> String? {
        if let real = realpath(folder, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        // What is not there yet: its name is what it will be.
        guard folder.hasPrefix("/"), let place = FilePlace(folder) else { return nil }
        return place.path
    }
}
