import DurableFiles
import PlugModel
import SimulatedLAN
import Storage

/// The key of a simulated plug, in the file that a factory reset clears: the number of how many it has had before.
struct SimulatedKey {
    private static let path = SimulatedPlug.stateDirectory + "/key"

    let number: UInt64
    /// Flash has it.
    private(set) var isKept: Bool

    /// The factory writes the first one.
    static func make(_ files: FileStore) {
        var key = SimulatedKey(number: 0, isKept: false)
        precondition(key.keep(files), "a new disk works")
    }

    /// As the running plug gets it; nil: the plug stays off the network.
    ///
    /// - Parameter next: the number of a new one.
    init?(_ storage: PlugStorage, _ files: FileStore, next: UInt64) {
        guard !storage.isUnfinished else { return nil }
        do throws(FileError) {
            if let bytes = try files.readSecretIfPresent(Self.path, limit: 64) {
                guard let known = UInt64(String(decoding: bytes, as: UTF8.self)) else { return nil }
                self.init(number: known, isKept: true)
                return
            }
        } catch {
            return nil
        }
        guard !storage.isPaired else { return nil }
        self.init(number: next, isKept: false)
        _ = keep(files)
    }

    private init(number: UInt64, isKept: Bool) {
        self.number = number
        self.isKept = isKept
    }

    /// Tries again where it failed before.
    mutating func keep(_ files: FileStore) -> Bool {
        if !isKept { isKept = (try? files.createSecret(Self.path, with: Array("\(number)".utf8))) == true }
        return isKept
    }
}
