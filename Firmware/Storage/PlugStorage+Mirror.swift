public import Appliance
import LinuxSystem
import PlugModel
public import ProtocolCore

/// The mirror records events for the next process after a crash. If a write fails, the mirror is removed and rewritten.
/// If it cannot be removed, flash marks it as invalid.
extension PlugStorage {
    /// Adds records to the mirror, which survives the process.
    public func mirror(_ records: [MirrorRecord]) {
        do throws(FileError) {
            try mirror.append(records)
        } catch {
            lost(error)
            mirrorRetryAt = .zero
        }
    }

    /// Limits the mirror's size, and restarts it after a failure. Call it after all actions are performed.
    public func settle(_ memory: @autoclosure () -> PlugMemory, now: Instant) {
        guard !isClosed else { return }
        if !mirror.isOpen {
            if mirrorRetryAt <= now { begin(memory(), now: now) }
        } else if mirror.isTooLong {
            do throws(FileError) {
                try mirror.rewrite(memory(), boot: boot, id: id)
            } catch {
                mirror.postpone()
            }
        }
    }

    /// Returns the mirror of the previous process, or nil if no mirror of this boot exists.
    static func replay(_ mirror: Mirror, of boot: BootID, _ troubles: inout StorageErrorReporter) -> MirrorReplay? {
        do throws(FileError) {
            guard let bytes = try mirror.bytes() else { return nil }
            let replay = try? MirrorReplay(bytes)
            return replay?.boot == boot ? replay : nil
        } catch {
            troubles.failed(.mirror, error)
            return nil
        }
    }

    func mirroredMemory() -> PlugMemory? {
        guard let replay else { return nil }
        self.replay = nil
        do throws(MirrorFault) {
            return try replay.memory(limits)
        } catch {
            troubles.note("the mirror is damaged: \(error)", hint: "no action is required; controllers receive a gap")
            return nil
        }
    }

    func begin(_ memory: PlugMemory, now: Instant) {
        do throws(FileError) {
            do throws(FileError) {
                try mirror.rewrite(memory, boot: boot, id: id)
            } catch {
                // The old file may use the space that the new one needs.
                mirror.abandon()
                try mirror.rewrite(memory, boot: boot, id: id)
            }
            troubles.worked(.mirror)
            unmark()
        } catch {
            lost(error)
            mirrorRetryAt = now + Self.mirrorRetry
        }
    }

    private func lost(_ error: FileError) {
        mirror.abandon()
        if mirror.isStale, mark != .thisBoot, (try? flash.write(unmirrored: boot)) != nil { mark = .thisBoot }
        troubles.failed(.mirror, error)
    }

    func unmark() {
        if mirror.isOpen, mark != .none, (try? flash.removeUnmirrored()) != nil { mark = .none }
    }
}
