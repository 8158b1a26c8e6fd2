import PlugHardware
import Synchronization

/// A line's place, which no other line has.
struct LineKey: Hashable, Sendable, CustomStringConvertible {
    var chip: String
    var offset: UInt32

    var description: String { "line \(offset) of \(chip)" }
}

/// A line that a part of this plug has, until it lets go of this.
///
/// The kernel would only know of two parts on one line when both have moved: then it is too late for a good error.
final class LineClaim: Sendable {
    private static let taken = Mutex<[LineKey: String]>([:])

    let key: LineKey

    init(_ found: LineCatalogue.Found, for part: String) throws(LineCatalogue.Unknown) {
        let key = found.key
        let holder = Self.taken.withLock { taken in
            let holder = taken[key]
            if holder == nil { taken[key] = part }
            return holder
        }
        if let holder {
            throw LineCatalogue.Unknown(
                description: "\(key) is already the line of this plug's \(holder): each part needs a line of its own")
        }
        self.key = key
    }

    deinit { Self.taken.withLock { $0[key] = nil } }
}

extension LineCatalogue.Found {
    /// - Throws: who has the line, if somebody has.
    func checkFree() throws(LineCatalogue.Unknown) {
        guard line.isUsed else { return }
        let holder = line.consumer.isEmpty ? "the kernel" : "\"\(line.consumer)\""
        let hint =
            line.consumer.hasPrefix("plugd ")
            ? "another plugd is running, or a service manager keeps the line of one that was killed"
            : "stop it, remove it from the board's overlays, or choose another line"
        throw LineCatalogue.Unknown(description: "\(key) is in use by \(holder): \(hint)")
    }
}
