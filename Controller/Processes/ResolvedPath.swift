internal import Glibc

/// The location of a file: its folder without symbolic links, and its name in that folder. Two locations are equal
/// exactly if they name the same directory entry. If the entry is a link itself, it is not resolved.
public struct ResolvedPath: Hashable, Sendable {
    let folder: String
    let name: String

    /// The path of the file.
    public var path: String { Self.joined(folder, name) }

    /// Finds the location of a path.
    ///
    /// - Parameter path: a path; a relative one is resolved against the working directory. Links in the existing part
    ///   of its folder are resolved.
    /// - Returns: nil if the path does not end in a name, if it contains a zero byte, or if it is relative and its
    ///   folder does not exist.
    public init?(_ path: String) {
        guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
        let slash = path.lastIndex(of: "/")
        name = slash.map { String(path[$0...].dropFirst()) } ?? path
        guard name != "", name != ".", name != ".." else { return nil }
        let written = slash.map { String(path[..<$0]) } ?? "."
        guard let folder = Self.withoutLinks(written.isEmpty ? "/" : written) else { return nil }
        self.folder = folder
    }

    /// Finds the program that execvp(3) would start by this name; nil if it is not found.
    public init?(ofProgram name: String) {
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
        // The part that does not exist yet is kept as written.
        guard folder.hasPrefix("/"), let place = ResolvedPath(folder) else { return nil }
        return place.path
    }
}
