import Appliance
import LinuxSystem
import PlugModel
import PlugProtocol

/// A plug's files in flash. Each one except `audit` and `reset` is small, is replaced as a whole, and contains one line
/// twice. Otherwise a single corrupt digit could remain undetected: a wrong plug id, reused event numbers, or a relay
/// that is on.
///
/// `id`: the plug's id, drawn once. `sequence`: the boundary at which event numbers continue after a power loss.
/// `state`: relay, level, energy and an optional word for a tripped protection, which older firmware does not write.
/// `setup-code`: the label's code, drawn once. `changed-code`: the code that replaces it. `controllers`: the paired
/// controllers. `homekit`: the HomeKit pairings and the plug's HomeKit key. `homekit-code`: the HomeKit data of the
/// label. `matter`: the Matter fabrics with their keys, access control lists and counters. `matter-code`: the Matter data
/// of the label. `wifi`: the Wi-Fi networks with their passwords. The last eight and `audit` are rejected if other users could have read or written them. `settings`: the
/// remote settings, including the name. `unmirrored`, rarely present: the boot whose mirror is outdated and could not be
/// removed. `audit`: the audit log, see ``AuditFile``, the only file that grows. `reset`, only while a factory reset is
/// in progress: see ``FactoryReset``. An invalid file is renamed to `NAME.damaged` and does not count as missing.
struct StateDirectory: Sendable {
    /// The content of a file.
    enum Found<Value: Sendable>: Sendable {
        case value(Value)
        /// The file does not exist.
        case nothing
        /// The file cannot be read or is not valid.
        case unusable
    }

    /// The limit of a file in bytes; the files are far smaller.
    private static let fileLimit = 4096
    /// The limit of event numbers, which no plug reaches. A larger number is invalid, and adding to it could overflow.
    private static let largestSequence = PlugWire.highestSequence / 2

    /// The size of sixteen controllers with the longest key and name, twice.
    private static let controllersLimit = 131_072

    let path: String
    let files: FileStore

    func id(_ tell: (FileFault) -> Void) -> Found<PlugID> {
        read("id", expected: "twelve lower-case hexadecimal digits", tell) { PlugID(rawValue: $0) }
    }

    /// Reads the number at which events continue after a power loss; all numbers below may have been used.
    func boundary(_ tell: (FileFault) -> Void) -> Found<SequenceNumber> {
        read("sequence", expected: "an integer from 1 to \(Self.largestSequence)", tell) { text in
            SequenceNumber(text).flatMap { (1...Self.largestSequence).contains($0) ? $0 : nil }
        }
    }

    func state(_ tell: (FileFault) -> Void) -> Found<StoredState> {
        let expected = "relay (on or off), level, milliwatt-hours and optionally the tripped protection"
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

    /// Reads the boot whose mirror is invalid.
    func unmirrored(_ tell: (FileFault) -> Void) -> Found<BootID> {
        read("unmirrored", expected: "a boot's id, 32 hexadecimal digits", tell) { text in
            let digits = text.compactMap(\.hexDigitValue)
            guard digits.count == 32, text.count == 32 else { return nil }
            return BootID(bytes: stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
        }
    }

    /// Reads the paired controllers; see ``ControllersText``.
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

    /// Reads the code that replaces the label's.
    func changedCode(_ tell: (FileFault) -> Void) -> Found<SetupCode> {
        read(Self.changedCode, expected: "16 letters and digits from 2 to 7", isSecret: true, tell) {
            try? SetupCode(text: $0)
        }
    }

    /// Reads the valid code: the changed one, or the label's. If the changed one is damaged, the label's does not
    /// become valid again.
    func validCode(_ tell: (FileFault) -> Void) -> Found<SetupCode> {
        let changed = changedCode(tell)
        guard case .nothing = changed else { return changed }
        return setupCode(tell)
    }

    /// Reads the remote settings; see ``SettingsText``.
    func settings(_ tell: (FileFault) -> Void) -> Found<StoredSettings> {
        read("settings", expected: "a name and settings", tell) { SettingsText.parse($0) }
    }

    func write(_ settings: StoredSettings) throws(FileError) {
        try replace("settings", with: SettingsText.text(settings))
    }

    static let homeKit = "homekit"
    private static let homeKitLimit = 32_768

    /// Reads the controllers paired by HomeKit and the plug's HomeKit key, as bytes that the HomeKit module interprets.
    func homeKit(_ tell: (FileFault) -> Void) -> Found<[UInt8]> {
        read(Self.homeKit, expected: "HomeKit's records", limit: Self.homeKitLimit, isSecret: true, tell) {
            EscapedText.values(of: Substring($0).utf8)
        }
    }

    func write(homeKit records: [UInt8]) throws(FileError) {
        try replace(Self.homeKit, with: String(decoding: records.flatMap(EscapedText.hexadecimal), as: UTF8.self))
    }

    /// Reads the HomeKit data of the label: setup code, setup id and category.
    func homeKitLabel(_ tell: (FileFault) -> Void) -> Found<String> {
        read("homekit-code", expected: "a setup code, a setup id and a category", isSecret: true, tell) { $0 }
    }

    func write(homeKitLabel label: String) throws(FileError) { try replace("homekit-code", with: label) }

    static let matter = "matter"
    /// The size of 64 KiB of records in hexadecimal digits, twice. Five fabrics with the longest certificates need less
    /// than a third.
    private static let matterLimit = 262_144 + 2

    /// Reads the Matter fabrics and counters, as bytes that the Matter module interprets.
    func matter(_ tell: (FileFault) -> Void) -> Found<[UInt8]> {
        read(Self.matter, expected: "Matter's records", limit: Self.matterLimit, isSecret: true, tell) {
            EscapedText.values(of: Substring($0).utf8)
        }
    }

    func write(matter records: [UInt8]) throws(FileError) {
        try replace(Self.matter, with: String(decoding: records.flatMap(EscapedText.hexadecimal), as: UTF8.self))
    }

    /// Reads the Matter data of the label: passcode, discriminator, vendor, product and the passcode's verifier.
    func matterLabel(_ tell: (FileFault) -> Void) -> Found<String> {
        read("matter-code", expected: "a passcode, a discriminator and a verifier", isSecret: true, tell) { $0 }
    }

    func write(matterLabel label: String) throws(FileError) { try replace("matter-code", with: label) }

    static let wiFi = "wifi"
    /// The size of sixteen networks with the longest name and password, twice.
    private static let wiFiLimit = 8192

    /// Reads the Wi-Fi networks, as a line that the Wi-Fi module interprets.
    func wiFi(_ tell: (FileFault) -> Void) -> Found<String> {
        read(Self.wiFi, expected: "a country and networks", limit: Self.wiFiLimit, isSecret: true, tell) { $0 }
    }

    func write(wiFi line: String) throws(FileError) { try replace(Self.wiFi, with: line) }

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

    /// - Parameter before: the previous content, which is restored if the write fails. The new code may be in the file
    ///   without being durable, and a restart must not find a rejected code.
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
        // The directory may have been missing when plugd started, because its disk was mounted late.
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
            case .system, .held, .damaged, .exposed, .foreign, .noPlainFile, .notRegular, .noText, .late, .noReader:
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

/// The reasons why a file of the state directory is unusable.
enum FileFault: CustomStringConvertible {
    case unreadable(FileError)
    /// The content is not valid. `keptAs` is the new name; nil if renaming failed.
    case damaged(String, expected: String, keptAs: String?)
    /// The file was damaged before and has not been written since.
    case gone(String)

    var description: String {
        switch self {
        case .unreadable(let error): "\(error)"
        case .damaged(let file, let expected, let name):
            "\(file) is damaged: expected \(expected), in two equal lines"
                + (name.map { "; it is kept as \($0)" } ?? "")
        case .gone(let file): "\(file) was damaged and is now missing"
        }
    }

    var hint: String? {
        switch self {
        case .unreadable(let error): error.hint
        case .damaged, .gone: nil
        }
    }
}
