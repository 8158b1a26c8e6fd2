import DurableFiles

/// The files of the HomeKit door. It alone understands them.
extension PlugStorage {
    public enum HomeKitFiles: Sendable {
        /// Nil where flash has none yet.
        case read(records: [UInt8]?, label: String?)
        /// One of them cannot be read, or does not hold what it should. That was told.
        case unusable
    }

    /// Called once, since what is spoiled is told each time.
    public func homeKitFiles() -> HomeKitFiles {
        guard !isUnfinished else { return .unusable }
        let hint = "HomeKit stays off until the file is right again, or was removed with its .damaged copy"
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

    public func writing(homeKit records: [UInt8]) -> FlashWrite {
        FlashWrite(content: .homeKit(records), flash: flash)
    }

    /// Writes what the label says for HomeKit; false where flash does not take it.
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
