import Crypto
import LinuxSystem
import Synchronization
import WebPush

/// The key by which push services recognize the daemon, and the subscribed browsers, in files that only the daemon's
/// user can read.
final class PushStore: Sendable {
    private let keyPath: String
    private let file: JSONFile<[PushSubscription]>
    /// The key; nil before the first use.
    private let known = Mutex<ApplicationServerKey?>(nil)

    /// Refers to the files in a directory. Nothing is read yet.
    init(directory: String) {
        let paths = Self.paths(in: directory)
        keyPath = paths.key
        file = JSONFile(paths.subscriptions, empty: [])
    }

    /// The paths of the files, which are secrets.
    static func paths(in directory: String) -> (key: String, subscriptions: String) {
        (directory + "/push-key", directory + "/push-subscriptions.json")
    }

    /// Returns the key. The first call draws and stores it. With a different key, all browsers would have to subscribe
    /// again, so a damaged file is reported and kept.
    func key() throws(FileError) -> ApplicationServerKey {
        try known.withLock { (known) throws(FileError) -> ApplicationServerKey in
            if let known { return known }
            let bytes = try storedKey()
            guard let key = ApplicationServerKey(bytes) else { throw FileError(.read, keyPath, .damaged) }
            known = key
            return key
        }
    }

    private func storedKey() throws(FileError) -> [UInt8] {
        let files = FileStore()
        let limit = 2 * ApplicationServerKey.size
        if let bytes = try files.readSecretIfPresent(keyPath, limit: limit) { return bytes }
        let drawn = Array(P256.Signing.PrivateKey().rawRepresentation)
        try files.makeDirectories(parentDirectory(of: keyPath))
        try files.replaceSecret(keyPath, with: drawn)
        return drawn
    }

    /// Returns the subscriptions, oldest first.
    ///
    /// - Throws: `FileError`, or `DecodingError` if the file is damaged.
    func subscriptions() throws -> [PushSubscription] { try file.read() }

    /// Stores a subscription. It replaces a subscription with the same address.
    ///
    /// - Returns: the stored subscription; nil if the user has no place left (``SeatLimits/subscriptions``).
    /// - Throws: see ``subscriptions()``; `Fault` if the file would be too large. Nothing has changed then.
    func add(_ new: PushSubscription) throws -> PushSubscription? {
        try file.change { all -> PushSubscription? in
            // A browser repeats its subscription whenever the page opens, which need not write a file.
            if let same = all.first(where: new.isSame) { return same }
            let others = all.filter { $0.id != new.id }
            var seats = SeatCounter(.subscriptions)
            for other in others { _ = seats.take(other.holder) }
            guard seats.hasRoom(for: new.holder) else { return nil }
            all = others + [new]
            return new
        }
    }

    /// Removes subscriptions.
    ///
    /// - Parameter isRemoved: returns true for the subscriptions to remove.
    /// - Returns: true if a subscription was removed.
    /// - Throws: see ``add(_:)``.
    @discardableResult func remove(where isRemoved: (PushSubscription) -> Bool) throws -> Bool {
        try file.change { all in
            let before = all.count
            all.removeAll(where: isRemoved)
            return all.count < before
        }
    }
}

extension SeatLimits {
    /// Limits of subscriptions. Each causes a request per notification, and a house has fewer devices.
    static let subscriptions = SeatLimits(all: 40, network: 32, others: 20, password: 8)
}
