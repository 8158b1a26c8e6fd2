import CProcesses
internal import Glibc
import LinuxSystem

/// The daemon's files that no program may read.
public struct Secrets: Sendable {
    /// The files. They need not exist. The temporary files `NAME.…`, in which they are written first, are protected as
    /// well.
    public var files: [String]
    /// All files in these folders are protected. A folder that contains the user's home folder is not protected; only
    /// the listed ``files`` in it are.
    public var folders: [String]
    /// Folders that programs may read, although each is directly in a protected folder: for example the history.
    public var sharedFolders: [String]

    /// Creates the list of secrets.
    public init(files: [String] = [], folders: [String] = [], sharedFolders: [String] = []) {
        self.files = files
        self.folders = folders
        self.sharedFolders = sharedFolders
    }

    /// True if no file and no folder is listed.
    public var isEmpty: Bool { files.isEmpty && folders.isEmpty }
}

/// The identity of a file, independent of its name.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    /// The inode number of a removed file may be reused; the birth time distinguishes the files.
    private let birthSeconds: Int64
    private let birthNanoseconds: UInt32

    init(_ file: fence_file) {
        (device, inode) = (file.device, file.inode)
        (birthSeconds, birthNanoseconds) = (file.birth_seconds, file.birth_nanoseconds)
    }

    /// Finds the file at the path; nil if it is not found.
    ///
    /// - Returns: the identity, and the number of its hard links.
    static func find(_ path: String, followingLinks: Bool = true) -> (identity: FileIdentity, links: UInt32)? {
        var file = fence_file()
        let place = fence_look(path, followingLinks ? 1 : 0, &file)
        guard place >= 0 else { return nil }
        close(place)
        return (FileIdentity(file), file.links)
    }
}

/// The locations and identities of secrets, now and at previous starts of programs: a program may have renamed a
/// secret, or changed a link on its path.
struct KnownSecrets: Sendable {
    /// The maximum number of locations of each kind. It stops a program that replaces a link again and again from
    /// filling the memory.
    private static let limit = 1024

    private(set) var identities: Set<FileIdentity> = []
    /// The folders on the paths to secrets, from the root, without links. All their entries are listed when a program
    /// starts.
    private(set) var ways: Set<String> = ["/"]
    private var files: Set<ResolvedPath> = []
    private var folders: Set<String> = []

    mutating func update(_ secrets: Secrets) {
        for path in secrets.folders where !Self.containsHome(path) {
            for place in Self.places(of: path) where folders.count < Self.limit { folders.insert(place.path) }
            note(path)
        }
        for path in secrets.files {
            for place in Self.places(of: path) where files.count < Self.limit { files.insert(place) }
            note(path)
        }
        ways = ["/"]
        for folder in files.map(\.folder) + folders.compactMap({ ResolvedPath($0)?.folder }) {
            var way = ""
            for part in folder.split(separator: "/") {
                way += "/" + part
                if !isProtected(way) { ways.insert(way) }
            }
        }
    }

    /// Returns true if the path is a protected folder or is in one.
    func isProtected(_ path: String) -> Bool {
        folders.contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    /// Returns true if the path is a secret, or a folder on the path to one.
    func isOnWay(_ path: String) -> Bool {
        let secrets = files.map(\.path) + folders
        return secrets.contains { $0 == path || $0.hasPrefix(path == "/" ? path : path + "/") }
    }

    /// Returns true if an entry of a folder in `ways` is a secret, the temporary file of a secret, or a folder on the
    /// path to a secret.
    func covers(_ name: String, in folder: String) -> Bool {
        let path = ResolvedPath.joined(folder, name)
        if ways.contains(path) || isProtected(path) { return true }
        return files.contains { $0.folder == folder && (name == $0.name || name.hasPrefix($0.name + ".")) }
    }

    /// Throws if a secret has a second hard link, under which a program could read the secret.
    func refuseHardLinks(to paths: [String]) throws(ChildProcess.StartFault) {
        for path in paths {
            guard let found = FileIdentity.find(path), found.links > 1 else { continue }
            let others = Self.places(of: path).map { place in
                // While `createSecret` creates a file, the file briefly has two names: its own and that of its
                // temporary file.
                let names = FileStamp.names(in: place.folder, limit: 10_000) ?? []
                return names.count { name in
                    name.hasPrefix(place.name + ".")
                        && FileIdentity.find(ResolvedPath.joined(place.folder, name), followingLinks: false)?.identity
                            == found.identity
                }
            }
            guard found.links > 1 + (others.max() ?? 0) else { continue }
            throw ChildProcess.StartFault(
                "the secret \(path) has more than one name (\(found.links) hard links), so a program could read it; "
                    + "hint: find the other names with find -inum, and remove them")
        }
    }

    private mutating func note(_ path: String) {
        guard identities.count < Self.limit, let found = FileIdentity.find(path) else { return }
        identities.insert(found.identity)
    }

    /// Returns the path's location, and the target's location if the path is a link. The target is protected, so a
    /// program cannot read the secret through the link.
    private static func places(of path: String) -> Set<ResolvedPath> {
        var places: Set<ResolvedPath> = []
        if let place = ResolvedPath(path) { places.insert(place) }
        if let end = realpath(path, nil) {
            if let target = ResolvedPath(String(cString: end)) { places.insert(target) }
            free(end)
        }
        return places
    }

    private static func containsHome(_ folder: String) -> Bool {
        let homes = places(of: UserDirectories.home).map(\.path)
        return places(of: folder).contains { folder in
            homes.contains { $0 == folder.path || $0.hasPrefix(folder.path + "/") }
        }
    }
}
