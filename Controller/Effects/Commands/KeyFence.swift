import CEffects
import DurableFiles
internal import Glibc
import Synchronization

/// Keeps a program, and all that it starts, from reading files of the daemon's: whoever has them is the controller, from any machine and
/// for good. The program has the daemon's user, so permissions do not keep it from them; Landlock does (Linux 5.13), which needs no
/// rights.
///
/// Landlock has no rule that denies access, so all is allowed that is not on the way to these files, as it is when the program starts. A
/// file that is made later in a folder on such a way, such as the home folder itself, can be written and not read until the next
/// program starts. A folder there can be made, but neither renamed nor removed.
final class KeyFence: Sendable {
    /// False where the kernel has no Landlock, or keeps it from us.
    static var isPossible: Bool { fence_version() > 0 }
    /// Entries of the folders on the ways. It bounds what a start of a program costs: a hundredth of a second for so many.
    private static let entryLimit = 10_000

    private let secrets: Secrets
    private let known: Mutex<KnownSecrets>

    /// Records the files as they are now: a program that renames one of them later does not read it under its new name.
    init(keeping secrets: Secrets) {
        self.secrets = secrets
        known = Mutex(KnownSecrets())
        known.withLock { $0.update(secrets) }
    }

    /// A descriptor for the start of a program, which is the caller's to close.
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
                // One that nobody may list hides nothing from us that a program could read.
                let names = FileStamp.names(in: folder, limit: left + 1) ?? []
                left -= names.count
                guard left >= 0 else {
                    throw ChildProcess.StartFault("there are too many files beside the daemon's keys, in \(folder)")
                }
                for name in names where !known.covers(name, in: folder) {
                    try allow(FilePlace.joined(folder, name), behind: fence, fence_read_and_move, known)
                }
            }
            for path in secrets.sharedFolders {
                guard let place = FilePlace(path), known.isProtected(place.path), !known.isOnWay(place.path) else {
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
        // A link gives no access by itself.
        guard file.kind != fence_link, !known.identities.contains(FileIdentity(file)) else { return }
        guard file.kind == fence_folder || access == fence_read_and_move else { return }
        let isFolder = file.kind == fence_folder
        try Self.throwIfShort(fence_allow(fence, place, isFolder ? access : fence_read_only))
    }

    /// A file that is gone, or that the daemon may not open either, needs no rule. A lack of memory or descriptors ends the start.
    private static func throwIfShort(_ code: CInt) throws(ChildProcess.StartFault) {
        if [ENOMEM, EMFILE, ENFILE].contains(code) { throw fault(code) }
    }

    private static func fault(_ code: CInt) -> ChildProcess.StartFault {
        ChildProcess.StartFault("it cannot be kept from the daemon's keys: " + String(cString: strerror(code)))
    }
}
