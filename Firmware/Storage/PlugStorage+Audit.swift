public import Appliance
import LinuxSystem
import PlugModel

extension PlugStorage {
    /// Reads the audit log from flash. Call it once, because each call reports damaged lines.
    public func audit() -> AuditLog {
        guard !isUnfinished else { return AuditLog() }
        let file = "\(flash.path)/\(StateDirectory.audit)"
        do throws(FileError) {
            guard let bytes = try flash.files.readSecretIfPresent(file, limit: AuditFile.limit) else {
                return AuditLog(resetBy: resetBy)
            }
            let content = AuditFile.parse(bytes)
            let remark = content.spoiled == 0 ? nil : "lines that could not be read: \(content.spoiled)"
            if let remark {
                troubles.note("\(file): \(remark)", hint: "no action is required; the audit log records this too")
            }
            let mayGrow = content.isWhole && remark == nil
            return AuditLog(
                content.entries, lines: mayGrow ? content.entries.count : nil, remark: remark, resetBy: resetBy)
        } catch {
            // A power loss may leave an empty file.
            if error.reason == .empty { return AuditLog(resetBy: resetBy) }
            let isKept = (try? flash.files.rename(file, to: file + ".damaged")) != nil
            troubles.note("\(error): a new audit log is started", hint: error.hint)
            let remark = "the file could not be read" + (isKept ? "; it is kept as audit.damaged" : "")
            return AuditLog(remark: remark, resetBy: resetBy)
        }
    }

    /// Returns a write of audit log entries.
    public func writing(_ audit: AuditLog.Write) -> FlashWrite { FlashWrite(content: .audit(audit), flash: flash) }

    /// Writes audit log entries to flash. Returns false on failure.
    public func keep(_ audit: AuditLog.Write) -> Bool { finish(writing(audit).perform()) }
}
