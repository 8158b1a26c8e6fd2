import PlugHardware
import Synchronization

/// The unique location of a line.
struct LineKey: Hashable, Sendable, CustomStringConvertible {
    var chip: String
    var offset: UInt32

    var description: String { "line \(offset) of \(chip)" }
}

/// Reserves a line for one part of this plug while the value exists.
///
/// The kernel would detect two parts on one line only when both request it, which is too late for a good error message.
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
                description: "this plug's \(holder) already uses \(key): choose a different line")
        }
        self.key = key
    }

    deinit { Self.taken.withLock { $0[key] = nil } }
}

extension LineCatalogue.Found {
    /// Throws an error that names the line's user, if the kernel or a program uses the line.
    func checkFree() throws(LineCatalogue.Unknown) {
        guard line.isUsed else { return }
        let holder = line.consumer.isEmpty ? "the kernel" : "\"\(line.consumer)\""
        let hint =
            line.consumer.hasPrefix("plugd ")
            ? "another plugd is running, or a service manager holds the line of a killed one"
            : "stop it, remove it from the board's overlays, or choose a different line"
        throw LineCatalogue.Unknown(description: "\(key) is in use by \(holder): \(hint)")
    }
}
