import Appliance
import DurableFiles
import PlugProtocol

/// What a plug keeps in its state directory: a handful of small files, each replaced as a whole.
///
/// `id`: the plug's id, drawn once. `sequence`: the boundary below which every event number may have been used. `state`:
/// relay, level, energy, and the boot in which they were written. `lock`, `panel.sock`: while a plugd runs.
final class StateDirectory: Sendable {
    /// Bytes of any of the files; they are far smaller.
    private static let fileLimit = 4096
    /// Event numbers reserved at a time: a plug that is switched 300 times a day writes the boundary every third day.
    static let reservation: SequenceNumber = 1000
    /// No plug gets there; a larger number was not written by one, and adding to it would overflow.
    private static let largestSequence = SequenceNumber(Int64.max)

    let path: String
    let id: PlugID
    private let files = FileStore()
    /// Held for the life of the process, so that two plugds never write the same files.
    private let lock: DirectoryLock

    /// Makes the directory if it is missing, locks it and draws the id on the first start.
    ///
    /// - Throws: `FileError`, also when another plugd has the directory, or ``DamagedFile``.
    init(_ path: String, random: inout some RandomNumberGenerator) throws {
        self.path = path
        try files.makeDirectories(path)
        lock = try DirectoryLock(path)
        if let text = try Self.text(path + "/id", files) {
            guard let id = PlugID(rawValue: text) else {
                throw DamagedFile(path: path + "/id", expected: "twelve lower-case hexadecimal digits")
            }
            self.id = id
        } else {
            id = PlugID(drawnFrom: &random)
            try files.replace(path + "/id", with: Array((id.rawValue + "\n").utf8))
        }
    }

    /// The number of the next event; everything below may have been used. 1 on the first start.
    func nextSequence() throws -> SequenceNumber {
        guard let text = try Self.text(path + "/sequence", files) else { return 1 }
        guard let number = SequenceNumber(text), (1...Self.largestSequence).contains(number) else {
            throw DamagedFile(path: path + "/sequence", expected: "a whole number from 1 to \(Self.largestSequence)")
        }
        return number
    }

    func write(nextSequence: SequenceNumber) throws(FileError) {
        try files.replace(path + "/sequence", with: Array("\(nextSequence)\n".utf8))
    }

    /// Nil on the first start.
    func storedState() throws -> (state: StoredState, boot: BootID)? {
        guard let text = try Self.text(path + "/state", files) else { return nil }
        let words = text.split(separator: " ")
        guard words.count == 4, ["on", "off"].contains(words[0]),
            let level = Int(words[1]).flatMap({ DimLevel(permille: $0) }),
            let energy = UInt64(words[2]), let boot = BootID(hexadecimal: words[3])
        else {
            throw DamagedFile(path: path + "/state", expected: "relay (on or off), level, milliwatt-hours and boot id")
        }
        return (StoredState(relayOn: words[0] == "on", level: level, milliwattHours: energy), boot)
    }

    func write(_ state: StoredState, boot: BootID) throws(FileError) {
        let relay = state.relayOn ? "on" : "off"
        let line = "\(relay) \(state.level.permille) \(state.milliwattHours) \(boot.hexadecimal)\n"
        try files.replace(path + "/state", with: Array(line.utf8))
    }

    private static func text(_ path: String, _ files: FileStore) throws(FileError) -> String? {
        guard let bytes = try files.readIfPresent(path, limit: fileLimit) else { return nil }
        var text = Substring(String(decoding: bytes, as: UTF8.self))
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }
}

/// A file of the state directory that does not hold what it should.
struct DamagedFile: Error, CustomStringConvertible {
    let path: String
    let expected: String

    var description: String {
        """
        \(path) is damaged: expected \(expected)
        hint: move the file away; the plug starts without what it held
        """
    }
}

extension BootID {
    fileprivate var hexadecimal: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    fileprivate init?(hexadecimal: Substring) {
        let digits = hexadecimal.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32, hexadecimal.utf8.count == 32 else { return nil }
        self.init(bytes: stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
