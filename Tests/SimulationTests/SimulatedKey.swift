import LinuxSystem
import PlugModel
import SimulatedLAN
import Storage

/// The key of a simulated plug, as a number that counts its earlier keys, in a file that a factory reset clears.
struct SimulatedKey {
    private static let path = SimulatedPlug.stateDirectory + "/key"

    let number: UInt64
    /// True if the key is in flash.
    private(set) var isKept: Bool

    /// Writes the first key, as the factory does.
    static func make(_ files: FileStore) {
        var key = SimulatedKey(number: 0, isKept: false)
        precondition(key.keep(files), "a new disk cannot store the key")
    }

    /// Loads the key for the running plug, or creates one; nil if the plug has to stay off the network.
    ///
    /// - Parameter next: the number of a new key.
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

    /// Stores the key if that has not succeeded yet. Returns true if the key is in flash.
    mutating func keep(_ files: FileStore) -> Bool {
        if !isKept { isKept = (try? files.createSecret(Self.path, with: Array("\(number)".utf8))) == true }
        return isKept
    }
}
