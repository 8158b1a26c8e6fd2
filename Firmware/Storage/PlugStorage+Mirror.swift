public import Appliance
import DurableFiles
import PlugModel
public import ProtocolCore

/// The mirror: what happened, for the process that comes after a kill. One that fails is removed and begun anew; where it cannot
/// be removed either, flash says that it is not to be believed.
extension PlugStorage {
    /// Adds to the mirror, which a killed process leaves behind.
    public func mirror(_ records: [MirrorRecord]) {
        do throws(FileError) {
            try mirror.append(records)
        } catch {
            lost(error)
            mirrorRetryAt = .zero
        }
    }

    /// Keeps the mirror small, and begins it anew where it failed. Called when all actions have been performed.
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

    /// The mirror that the life before left behind; nil where there is none of this boot.
    static func replay(_ mirror: Mirror, of boot: BootID, _ troubles: inout Troubles) -> MirrorReplay? {
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
            troubles.note("the mirror is damaged: \(error)", hint: "nothing has to be done: controllers are told a gap")
            return nil
        }
    }

    func begin(_ memory: PlugMemory, now: Instant) {
        do throws(FileError) {
            do throws(FileError) {
                try mirror.rewrite(memory, boot: boot, id: id)
            } catch {
                // The old file may take the space that the new one needs.
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
