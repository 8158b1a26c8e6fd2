import DurableFiles
import PlugModel

/// Sets a plug back to factory state, so that a loss of power at any moment leaves the plug as it was or the one that was reset.
///
/// One file decides: `reset`, which is written first. Before it stands, the plug is as it was. From then on whoever starts
/// clears what is to be forgotten before believing any of it, in whatever state a loss of power left it, and removes `reset`
/// last. So no order among the other files matters: there is no moment in which the new plug lets in who was paired with the
/// old one, shows the old key, or can be paired while its old controllers are there.
///
/// What stays stands on the label (`id`, `setup-code`, `homekit-code`; a `changed-code` goes, or becomes another) or must never repeat (`sequence`, `unmirrored`).
struct FactoryReset: Sendable {
    enum Standing {
        case none, ordered
        /// Nobody can say.
        case unknown(FileError)
    }

    private static let mark = "reset"
    /// The key and the next one are no files of the storage's own, and must go with the rest: who pinned it belongs to the old plug.
    /// `networks` and `network-secret` are addressing's: where the plug was, and what its addresses follow from. `crash` says how the
    /// firmware ended, `audit` who the controllers were, `homekit` who those of HomeKit are.
    private static let forgotten = [
        "controllers", StateDirectory.changedCode, "key", "next-key", "state", "settings", "networks", "network-secret",
        "crash", "audit", StateDirectory.homeKit,
    ]

    let flash: StateDirectory
    /// The directory of the mirror.
    let runtime: String

    var standing: Standing {
        do throws(FileError) {
            return try flash.files.readIfPresent("\(flash.path)/\(Self.mark)", limit: 64) == nil ? .none : .ordered
        } catch {
            // One that could be opened is there.
            return error.operation == .open ? .unknown(error) : .ordered
        }
    }

    /// Who ordered it. No controller's name is among what it tells: the plug that was reset knows none.
    var asker: AuditActor {
        let bytes = (try? flash.files.readIfPresent("\(flash.path)/\(Self.mark)", limit: 64)) ?? nil
        let words = String(decoding: bytes ?? [], as: UTF8.self).split { " \n".contains($0) }
        return words.last.flatMap { AuditFile.actor(String($0)) } ?? .unknown
    }

    func order(by actor: AuditActor) throws(FileError) {
        do throws(FileError) {
            try flash.files.replaceSecret(
                "\(flash.path)/\(Self.mark)", with: Array("factory reset by \(Self.word(actor))\n".utf8))
        } catch {
            // It may stand there although nobody can rely on it. Where it cannot be removed either, the next start resets.
            try? flash.files.removeDurably([Self.mark], from: flash.path)
            throw error
        }
    }

    private static func word(_ actor: AuditActor) -> String {
        switch actor {
        case .controller: "controller:"
        case .button: "button"
        case .panel: "panel"
        case .configuration: "configuration"
        case .stranger, .broker, .homeKit, .plug, .unknown: "unknown"
        }
    }

    /// Removes what is to be forgotten, as often as it is called.
    ///
    /// - Parameter boot: the kernel's present one; a mirror of it that cannot be removed is marked as not to be believed.
    func clear(boot: BootID) throws(FileError) {
        do throws(FileError) {
            try flash.files.removeIfPresent(Mirror.path(in: runtime))
        } catch {
            try flash.write(unmirrored: boot)
        }
        // It lets nobody in, so one that stays does no harm.
        try? flash.files.removeIfPresent(AddressFile.path(in: runtime))
        // With whatever was put beside them: "key.damaged", "key.new", and the draft "key.712" of a process that died.
        let names = try flash.files.names(in: flash.path).filter { name in
            Self.forgotten.contains { name == $0 || name.hasPrefix($0 + ".") }
        }
        try flash.files.removeDurably(names, from: flash.path)
    }

    /// Between ``clear(boot:)``, which forgets it again where this is cut off, and ``finish()``: the label's code is good no more.
    func replaceCode(by code: SetupCode) throws(FileError) { try flash.write(changed: code, before: .nothing) }

    /// After ``clear(boot:)``: the plug is a new one.
    func finish() throws(FileError) { try flash.files.removeDurably([Self.mark], from: flash.path) }
}
