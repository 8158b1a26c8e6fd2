import LinuxSystem

/// Reads and writes the files of HomeKit, whose content only the HomeKit module interprets.
extension PlugStorage {
    /// The result of reading the files.
    public enum HomeKitFiles: Sendable {
        /// The content of the files; nil if flash has none yet.
        case read(records: [UInt8]?, label: String?)
        /// A file cannot be read or is not valid. The error was reported.
        case unusable
    }

    /// Reads the files. Call it once, because each call reports damaged files.
    public func homeKitFiles() -> HomeKitFiles {
        guard !isUnfinished else { return .unusable }
        let hint = "HomeKit stays off until the file is restored, or removed together with its .damaged copy"
        let records: [UInt8]?
        switch flash.homeKit({ troubles.note($0, hint) }) {
        case .value(let bytes): records = bytes
        case .nothing: records = nil
        case .unusable: return .unusable
        }
        switch flash.homeKitLabel({ troubles.note($0, hint) }) {
        case .value(let label): return .read(records: records, label: label)
        case .nothing: return .read(records: records, label: nil)
        case .unusable: return .unusable
        }
    }

    /// Returns a write of the HomeKit records.
    public func writing(homeKit records: [UInt8]) -> FlashWrite {
        FlashWrite(content: .homeKit(records), flash: flash)
    }

    /// Writes the HomeKit data of the label. Returns false on failure.
    public func keep(homeKitLabel label: String) -> Bool {
        do throws(FileError) {
            try flash.write(homeKitLabel: label)
            troubles.worked(.homeKit)
            return true
        } catch {
            troubles.failed(.homeKit, error)
            return false
        }
    }
}
