import LinuxSystem
import PlugModel

/// Resets a plug to factory state. A power loss at any moment leaves the plug either unchanged or reset.
///
/// The plug counts as reset as soon as the file `reset` exists, which is written first. Before that the plug is
/// unchanged. Afterwards every start first removes the data that a power loss may have left, and then removes `reset`.
/// The order of the other files therefore does not matter: at no moment does the new plug accept controllers of the old
/// one, use the old key, or allow pairing while its old controllers exist.
///
/// The remaining data is printed on the label (`id`, `setup-code`, `homekit-code`, `matter-code`; a `changed-code` is
/// removed or replaced), describes the hardware (`calibration.toml`), or ensures that no event number is used twice (`sequence`,
/// `unmirrored`).
struct FactoryReset: Sendable {
    enum Standing {
        case none, ordered
        /// The file `reset` cannot be checked.
        case unknown(FileError)
    }

    private static let mark = "reset"
    /// The files to remove. The storage does not own `key`, `next-key` and `registration-key`, but they must be removed as
    /// well, because controllers of the old plug have pinned the first two, and the third one identifies it in a domain. `networks` and `network-secret` belong to addressing and reveal
    /// the plug's former networks. `crash` describes a crash of the firmware, `audit` the controllers, `homekit` those
    /// of HomeKit, `matter` the fabrics of Matter, and `wifi` the passwords of networks.
    private static let forgotten = [
        "controllers", StateDirectory.changedCode, "key", "next-key", "registration-key", "state", "settings",
        "networks", "network-secret",
        "crash", "audit", StateDirectory.homeKit, StateDirectory.matter, StateDirectory.wiFi,
    ]

    let flash: StateDirectory
    /// The directory of the mirror.
    let runtime: String

    var standing: Standing {
        do throws(FileError) {
            return try flash.files.readIfPresent("\(flash.path)/\(Self.mark)", limit: 64) == nil ? .none : .ordered
        } catch {
            // A file that could be opened exists.
            return error.operation == .open ? .unknown(error) : .ordered
        }
    }

    /// The actor who ordered the reset. Its controller name is not stored, because the reset plug knows no controllers.
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
            // The file may exist without being durable. If it cannot be removed either, the next start resets the plug.
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
        case .stranger, .broker, .homeKit, .matter, .plug, .unknown: "unknown"
        }
    }

    /// Removes all data that a reset erases. Repeated calls are safe.
    ///
    /// - Parameter boot: the kernel's current boot. If its mirror cannot be removed, the mirror is marked as invalid.
    func clear(boot: BootID) throws(FileError) {
        do throws(FileError) {
            try flash.files.removeIfPresent(Mirror.path(in: runtime))
        } catch {
            try flash.write(unmirrored: boot)
        }
        // The addresses grant no access, so a remaining file is harmless.
        try? flash.files.removeIfPresent(AddressFile.path(in: runtime))
        // Files derived from these are also removed: "key.damaged", "key.new", and the draft "key.712" of a crashed
        // process.
        let names = try flash.files.names(in: flash.path).filter { name in
            Self.forgotten.contains { name == $0 || name.hasPrefix($0 + ".") }
        }
        try flash.files.removeDurably(names, from: flash.path)
    }

    /// Replaces the label's code. Call it between ``clear(boot:)``, which removes the new code again after an
    /// interruption, and ``finish()``.
    func replaceCode(by code: SetupCode) throws(FileError) { try flash.write(changed: code, before: .nothing) }

    /// Completes the reset. Call it after ``clear(boot:)``.
    func finish() throws(FileError) { try flash.files.removeDurably([Self.mark], from: flash.path) }
}
