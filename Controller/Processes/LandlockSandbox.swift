import CProcesses
internal import Glibc
import LinuxSystem
import Synchronization

/// Keeps a program, and everything that it starts, from reading the daemon's secrets. With these secrets, a program
/// could act as the controller, from any machine and forever. The program runs as the daemon's user, so file
/// permissions do not help; Landlock does (Linux 5.13) and needs no privileges.
///
/// Landlock has no rule that denies access. So access is granted to everything that exists when the program starts,
/// except the secrets and the folders that lead to them. If a file is created later in such a folder (for example the
/// home folder), the program can write it, but cannot read it; a program that starts after that can read it too. The
/// program can create a folder there, but can neither rename nor remove it.
public final class LandlockSandbox: Sendable {
    /// True if the kernel has Landlock and lets this process use it.
    public static var isPossible: Bool { fence_version() > 0 }
    /// The maximum number of entries of the folders that lead to secrets. It limits the time of a program's start:
    /// listing this many entries takes about 10 ms.
    private static let entryLimit = 10_000

    private let secrets: Secrets
    private let known: Mutex<KnownSecrets>

    /// Records the identities of the files. If a program renames a secret later, programs that start afterwards cannot
    /// read the file under its new name.
    public init(keeping secrets: Secrets) {
        self.secrets = secrets
        known = Mutex(KnownSecrets())
        known.withLock { $0.update(secrets) }
    }

    /// Returns a Landlock descriptor for the start of a program. The caller closes it.
    func raised() throws(ChildProcess.StartFault) -> CInt {
        let known = known.withLock { known in
            known.update(secrets)
            return known
        }
        try known.refuseHardLinks(to: secrets.files)
        let fence = fence_make()
        guard fence >= 0 else { throw Self.fault(errno) }
        do throws(ChildProcess.StartFault) {
            var left = Self.entryLimit
            for folder in known.ways {
                // A folder that the daemon cannot list has no entries here: programs run as the daemon's user and
                // cannot list it either.
                let names = FileStamp.names(in: folder, limit: left + 1) ?? []
                left -= names.count
                guard left >= 0 else {
                    throw ChildProcess.StartFault("there are too many files next to the daemon's keys in \(folder)")
                }
                for name in names where !known.covers(name, in: folder) {
                    try allow(ResolvedPath.joined(folder, name), behind: fence, fence_read_and_move, known)
                }
            }
            for path in secrets.sharedFolders {
                guard let place = ResolvedPath(path), known.isProtected(place.path), !known.isOnWay(place.path) else {
                    continue
                }
                try allow(place.path, behind: fence, fence_read_only, known)
            }
            return fence
        } catch {
            close(fence)
            throw error
        }
    }

    private func allow(
        _ path: String, behind fence: CInt, _ access: fence_access, _ known: KnownSecrets
    ) throws(ChildProcess.StartFault) {
        var file = fence_file()
        let place = fence_look(path, 0, &file)
        guard place >= 0 else { return try Self.throwIfShort(errno) }
        defer { close(place) }
        // A link grants no access by itself.
        guard file.kind != fence_link, !known.identities.contains(FileIdentity(file)) else { return }
        guard file.kind == fence_folder || access == fence_read_and_move else { return }
        let isFolder = file.kind == fence_folder
        try Self.throwIfShort(fence_allow(fence, place, isFolder ? access : fence_read_only))
    }

    /// Ignores errors of a file that was removed or that the daemon cannot open; such a file needs no rule. Throws if
    /// memory or descriptors are exhausted.
    private static func throwIfShort(_ code: CInt) throws(ChildProcess.StartFault) {
        if shortages.contains(code) { throw fault(code) }
    }

    private static let shortages = [ENOMEM, EMFILE, ENFILE]

    private static func fault(_ code: CInt) -> ChildProcess.StartFault {
        ChildProcess.StartFault(
            "its access to the daemon's keys cannot be blocked: " + String(cString: strerror(code)),
            isPermanent: !shortages.contains(code))
    }
}
