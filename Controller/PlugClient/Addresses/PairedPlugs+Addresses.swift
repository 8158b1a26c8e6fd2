import LinuxSystem
public import PlugModel

/// The addresses that the user stored for paired plugs, in a file next to the list. Each line has the plug's id and the
/// address. The list itself has no addresses, because earlier controllers could not read it then.
extension PairedPlugs {
    private static let lineLength = 12 + PlugAddress.longestHost + 16

    private var addressPath: String { directory + "/addresses" }

    /// Reads the stored addresses. A missing file has none.
    ///
    /// - Throws: ``PairedPlugsError``, also if the file is damaged.
    public func addresses() throws(PairedPlugsError) -> [PlugID: PlugAddress] {
        let bytes: [UInt8]?
        do throws(FileError) {
            bytes = try files.readSecretIfPresent(addressPath, limit: Self.limit * Self.lineLength)
        } catch {
            guard error.reason == .empty else { throw .unusable(error) }
            return [:]
        }
        var addresses: [PlugID: PlugAddress] = [:]
        let lines = (bytes ?? []).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 2, let id = PlugID(rawValue: words[0]), let address = try? PlugAddress(words[1]) else {
                throw .damagedAddress(path: addressPath, line: index + 1)
            }
            addresses[id] = address
        }
        return addresses
    }

    /// Stores the address of a paired plug. Does nothing if the plug is not paired. The addresses of unpaired plugs
    /// are removed.
    ///
    /// - Parameters:
    ///   - address: The address; nil to remove the stored one.
    ///   - id: The plug.
    /// - Throws: See ``add(_:replacing:)``.
    public func setAddress(_ address: PlugAddress?, of id: PlugID) async throws {
        let lock = try await takeLock()
        defer { withExtendedLifetime(lock) {} }
        let known = try addresses()
        let paired = Set(try all().map(\.id))
        let changed = known.merging([id: address].compactMapValues(\.self)) { $1 }
            .filter { paired.contains($0.key) && ($0.key != id || address != nil) }
        guard changed != known else { return }
        let lines = changed.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)\n" }
        do throws(FileError) {
            try files.replaceSecret(addressPath, with: Array(lines.joined().utf8))
        } catch {
            throw PairedPlugsError.unusable(error)
        }
    }
}
