import LinuxSystem

/// Reads and writes the files of Matter, whose content only the Matter module interprets.
extension PlugStorage {
    /// The result of reading the files.
    public enum MatterFiles: Sendable {
        /// The content of the files; nil if flash has none yet.
        case read(records: [UInt8]?, label: String?)
        /// A file cannot be read or is not valid. The error was reported.
        case unusable
    }

    /// Reads the files. Call it once, because each call reports damaged files.
    public func matterFiles() -> MatterFiles {
        guard !isUnfinished else { return .unusable }
        let hint = "Matter stays off until the file is restored, or removed together with its .damaged copy"
        let records: [UInt8]?
        switch flash.matter({ troubles.note($0, hint) }) {
        case .value(let bytes): records = bytes
        case .nothing: records = nil
        case .unusable: return .unusable
        }
        switch flash.matterLabel({ troubles.note($0, hint) }) {
        case .value(let label): return .read(records: records, label: label)
        case .nothing: return .read(records: records, label: nil)
        case .unusable: return .unusable
        }
    }

    /// Returns a write of the Matter records.
    public func writing(matter records: [UInt8]) -> FlashWrite {
        FlashWrite(content: .matter(records), flash: flash)
    }

    /// Writes the Matter data of the label. Returns false on failure.
    public func keep(matterLabel label: String) -> Bool {
        do throws(FileError) {
            try flash.write(matterLabel: label)
            troubles.worked(.matter)
            return true
        } catch {
            troubles.failed(.matter, error)
            return false
        }
    }
}
