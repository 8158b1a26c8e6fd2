import CEffects
import DurableFiles
internal import Glibc

/// Keeps a program, and all that it starts, from reading files of the daemon's: whoever has them is the controller, from any machine and
/// for good. The program has the daemon's user, so permissions do not keep it from them; Landlock does (Linux 5.13), which needs no
/// rights.
///
/// Landlock knows only what is allowed, so all is allowed that lies beside the ways to these files, as it is when the program starts. A
/// file that is made later in a folder on such a way, such as the home folder itself, can be written and not read until the next
/// program starts.
struct KeyFence: Hashable, Sendable {
    /// False where the kernel has no Landlock, or keeps it from us.
    static var isPossible: Bool { fence_version() > 0 }
    /// Entries of the folders on the ways. It bounds what a start of a program costs: a hundredth of a second for so many.
    private static let entryLimit = 10_000

    private let kept: [String]

    /// - Parameter kept: the files. They need not be there; drafts of them, which are called `NAME.…`, are kept as well.
    init(keeping kept: [String]) { self.kept = kept }

    /// A descriptor for the start of a program, which is the caller's to close.
    func raised() throws(ChildProcess.StartFault) -> CInt {
        let fence = fence_make()
        guard fence >= 0 else { throw Self.fault(errno) }
        do throws(ChildProcess.StartFault) {
            let ways = Ways(to: kept)
            var left = Self.entryLimit
            for folder in ways.folders {
                // One that nobody may list hides nothing from us that a program could read.
                let names = FileStamp.names(in: folder, limit: left + 1) ?? []
                left -= names.count
                guard left >= 0 else {
                    throw ChildProcess.StartFault("there are too many files beside the daemon's keys, in \(folder)")
                }
                for name in names where !ways.contain(name, in: folder) {
                    let error = fence_allow(fence, Self.joined(folder, name))
                    guard ![ENOMEM, EMFILE, ENFILE].contains(error) else { throw Self.fault(error) }
                }
            }
            return fence
        } catch {
            close(fence)
            throw error
        }
    }

    private static func fault(_ code: CInt) -> ChildProcess.StartFault {
        ChildProcess.StartFault("it cannot be kept from the daemon's keys: " + String(cString: strerror(code)))
    }

    fileprivate static func joined(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/" + name : folder + "/" + name
    }
}

/// The folders that lead to files, from the root on, and the files themselves, without links.
private struct Ways {
    private(set) var folders: Set<String> = ["/"]
    private var files: [String: Set<String>] = [:]

    init(to paths: [String]) {
        for path in paths {
            guard let place = FilePlace(path) else { continue }
            add(place)
            // A link's own name is of no use to who may not read what it leads to.
            if let end = realpath(path, nil) {
                if let target = FilePlace(String(cString: end)) { add(target) }
                free(end)
            }
        }
    }

    func contain(_ name: String, in folder: String) -> Bool {
        if folders.contains(KeyFence.joined(folder, name)) { return true }
        return files[folder]?.contains { name == $0 || name.hasPrefix($0 + ".") } ?? false
    }

    private mutating func add(_ place: FilePlace) {
        var folder = ""
        for part in place.folder.split(separator: "/") {
            folder += "/" + part
            folders.insert(folder)
        }
        files[place.folder, default: []].insert(place.name)
    }
}
