import Appliance
import DurableFiles
import PlugModel
import PlugProtocol

/// What a plug keeps in flash: small files, each replaced as a whole, each with one line that stands there twice. One
/// spoilt digit would else be believed: another plug's id, numbers that were used before, a relay that is on.
///
/// `id`: the plug's id, drawn once. `sequence`: the boundary at which event numbers go on after a loss of power. `state`:
/// relay, level, energy and what locks the relay open (a word more, which older firmware never wrote). `setup-code`: as the label shows it, drawn once. `changed-code`: the one that is good in its place, where it was
/// changed. `controllers`: who is paired; `homekit`, `homekit-code`: the same by HomeKit; all five are refused where others could have read or written them. `settings`: what controllers changed, its name among it. `unmirrored`, seldom there: the boot whose mirror is out of date and could
/// not be removed. `audit`: the audit log, see ``AuditFile``, which alone grows. `reset`, for moments: see ``FactoryReset``. A file that does not hold what it should is kept as
/// `NAME.damaged`, and is not taken for one that never was.
struct StateDirectory: Sendable {
    /// What a file said.
    enum Found<Value: Sendable>: Sendable {
        case value(Value)
        /// There is no such file.
        case nothing
        /// There is one that cannot be read, or does not hold what it should.
        case unusable
    }

    /// Bytes of any of the files; they are far smaller.
    private static let fileLimit = 4096
    /// No plug gets there; a larger number was not written by one, and adding to it would overflow.
    private static let largestSequence = PlugWire.highestSequence / 2

    /// Sixteen controllers of the longest key and name, twice.
    private static let controllersLimit = 131_072

    let path: String
    let files: FileStore

    func id(_ tell: (FileFault) -> Void) -> Found<PlugID> {
        read("id", expected: "twelve lower-case hexadecimal digits", tell) { PlugID(rawValue: $0) }
    }

    /// The number at which events go on after a loss of power; everything below may have been used.
    func boundary(_ tell: (FileFault) -> Void) -> Found<SequenceNumber> {
        read("sequence", expected: "a whole number from 1 to \(Self.largestSequence)", tell) { text in
            SequenceNumber(text).flatMap { (1...Self.largestSequence).contains($0) ? $0 : nil }
        }
    }

    func state(_ tell: (FileFault) -> Void) -> Found<StoredState> {
        let expected = "relay (on or off), level, milliwatt-hours and perhaps what tripped"
        return read("state", expected: expected, tell) { text in
            let words = text.split(separator: " ", omittingEmptySubsequences: false)
            guard (3...4).contains(words.count), ["on", "off"].contains(words[0]),
                let level = Int(words[1]).flatMap({ DimLevel(permille: $0) }), let energy = UInt64(words[2]),
                energy <= PlugWire.greatestEnergy
            else { return nil }
            var state = StoredState(relayOn: words[0] == "on", level: level, milliwattHours: energy)
            guard words.count == 4 else { return state }
            guard let tripped = Protection(rawValue: String(words[3])) else { return nil }
            state.tripped = tripped
            return state
        }
    }

    /// The boot whose mirror is not to be believed.
    func unmirrored(_ tell: (FileFault) -> Void) -> Found<BootID> {
        read("unmirrored", expected: "a boot's id, 32 hexadecimal digits", tell) { text in
            let digits = text.compactMap(\.hexDigitValue)
            guard digits.count == 32, text.count == 32 else { return nil }
            return BootID(bytes: stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
        }
    }

    /// Who is paired; see ``ControllersText``.
    func controllers(_ tell: (FileFault) -> Void) -> Found<PairedControllers> {
        read(
            "controllers", expected: "keys and names of controllers", limit: Self.controllersLimit, isSecret: true, tell
        ) {
            ControllersText.parse($0)
        }
    }

    func setupCode(_ tell: (FileFault) -> Void) -> Found<SetupCode> {
        read("setup-code", expected: "16 letters and digits from 2 to 7", isSecret: true, tell) {
            try? SetupCode(text: $0)
        }
    }

    /// The code that took the place of the label's.
    func changedCode(_ tell: (FileFault) -> Void) -> Found<SetupCode> {
        read(Self.changedCode, expected: "16 letters and digits from 2 to 7", isSecret: true, tell) {
            try? SetupCode(text: $0)
        }
    }

    /// The code that is good: the changed one, or the label's. A changed one that is spoiled brings no other back to life.
    func validCode(_ tell: (FileFault) -> Void) -> Found<SetupCode> {
        let changed = changedCode(tell)
        guard case .nothing = changed else { return changed }
        return setupCode(tell)
    }

    /// What controllers changed; see ``SettingsText``.
    func settings(_ tell: (FileFault) -> Void) -> Found<StoredSettings> {
        read("settings", expected: "a name and settings", tell) { SettingsText.parse($0) }
    }

    func write(_ settings: StoredSettings) throws(FileError) {
        try replace("settings", with: SettingsText.text(settings))
    }

    static let homeKit = "homekit"
    private static let homeKitLimit = 32_768

    /// Who is paired by HomeKit, and the key with which the plug proves itself there: bytes that the door understands.
    func homeKit(_ tell: (FileFault) -> Void) -> Found<[UInt8]> {
        read(Self.homeKit, expected: "HomeKit's records", limit: Self.homeKitLimit, isSecret: true, tell) {
            EscapedText.values(of: Substring($0).utf8)
        }
    }

    func write(homeKit records: [UInt8]) throws(FileError) {
        try replace(Self.homeKit, with: String(decoding: records.flatMap(EscapedText.hexadecimal), as: UTF8.self))
    }

    /// What the label says for HomeKit: setup code, setup id and category.
    func homeKitLabel(_ tell: (FileFault) -> Void) -> Found<String> {
        read("homekit-code", expected: "a setup code, a setup id and a category", isSecret: true, tell) { $0 }
    }

    func write(homeKitLabel label: String) throws(FileError) { try replace("homekit-code", with: label) }

    static let audit = "audit"

    func write(_ audit: AuditLog.Write) throws(FileError) {
        try files.makeDirectories(path)
        let file = "\(path)/\(Self.audit)"
        let bytes = AuditFile.bytes(of: audit.entries)
        guard !audit.isWhole else { return try files.replaceSecret(file, with: bytes) }
        try AppendingFile(file, isSecret: true, store: files).append(bytes)
    }

    func write(_ controllers: PairedControllers) throws(FileError) {
        try replace("controllers", with: ControllersText.text(controllers))
    }

    func write(_ code: SetupCode) throws(FileError) { try replace("setup-code", with: code.text) }

    static let changedCode = "changed-code"

    /// - Parameter before: what stands there. Where the write fails it shall stand there again: the new one may already, without
    ///   being durable, and a restart must not find a code that was refused.
    func write(changed code: SetupCode, before: Found<SetupCode>) throws(FileError) {
        do throws(FileError) {
            try replace(Self.changedCode, with: code.text)
        } catch {
            switch before {
            case .value(let before): try? replace(Self.changedCode, with: before.text)
            case .nothing: try? files.removeDurably([Self.changedCode], from: path)
            case .unusable: break
            }
            throw error
        }
    }

    func write(unmirrored boot: BootID) throws(FileError) {
        let digits = Array("0123456789abcdef")
        let text = boot.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        try replace("unmirrored", with: String(text))
    }

    func removeUnmirrored() throws(FileError) { try files.removeIfPresent("\(path)/unmirrored") }

    func write(_ id: PlugID) throws(FileError) { try replace("id", with: id.rawValue) }

    func write(boundary: SequenceNumber) throws(FileError) { try replace("sequence", with: "\(boundary)") }

    func write(_ state: StoredState) throws(FileError) {
        let words = "\(state.relayOn ? "on" : "off") \(state.level.permille) \(state.milliwattHours)"
        try replace("state", with: words + (state.tripped.map { " \($0.rawValue)" } ?? ""))
    }

    private func replace(_ name: String, with line: String) throws(FileError) {
        // It may have been missing at the start, on a disk that was mounted late.
        try files.makeDirectories(path)
        try files.replaceSecret("\(path)/\(name)", with: Array("\(line)\n\(line)\n".utf8))
    }

    private func read<Value: Sendable>(
        _ name: String, expected: String, limit: Int = Self.fileLimit, isSecret: Bool = false,
        _ tell: (FileFault) -> Void,
        _ parse: (String) -> Value?
    ) -> Found<Value> {
        let file = "\(path)/\(name)"
        do throws(FileError) {
            let found =
                try isSecret ? files.readSecretIfPresent(file, limit: limit) : files.readIfPresent(file, limit: limit)
            guard let bytes = found else {
                guard isThere(file + ".damaged") else { return .nothing }
                tell(.gone(file))
                return .unusable
            }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            if lines.count == 3, lines[0] == lines[1], lines[2].isEmpty, let value = parse(String(lines[0])) {
                return .value(value)
            }
        } catch {
            switch error.reason {
            case .tooLarge, .empty: break
            case .system, .held, .damaged, .exposed, .foreign, .noPlainFile, .notRegular, .noText, .late:
                tell(.unreadable(error))
                return .unusable
            }
        }
        let isKept = (try? files.rename(file, to: file + ".damaged")) != nil
        tell(.damaged(file, expected: expected, keptAs: isKept ? "\(name).damaged" : nil))
        return .unusable
    }

    private func isThere(_ file: String) -> Bool {
        do throws(FileError) {
            return try files.readIfPresent(file, limit: Self.fileLimit) != nil
        } catch {
            return true
        }
    }
}

/// Why a file of the state directory is of no use.
enum FileFault: CustomStringConvertible {
    case unreadable(FileError)
    /// It does not hold what it should. `keptAs`: its new name; nil where it could not be renamed.
    case damaged(String, expected: String, keptAs: String?)
    /// It was found damaged before, and has not been written since.
    case gone(String)

    var description: String {
        switch self {
        case .unreadable(let error): "\(error)"
        case .damaged(let file, let expected, let name):
            "\(file) is damaged: expected \(expected), in two equal lines"
                + (name.map { "; it is kept as \($0)" } ?? "")
        case .gone(let file): "\(file) is missing since it was found damaged"
        }
    }

    var hint: String? {
        switch self {
        case .unreadable(let error): error.hint
        case .damaged, .gone: nil
        }
    }
}
