import Appliance
import LinuxSystem
import NIOCore
import PlugModel
import PlugTransport
import ProtocolCore
import Synchronization

/// Rotates the plug's key. The next key is stored next to the current one and sent to every controller. It replaces the
/// current key when all controllers have stored it, when all owners have stored it and a day has passed, or when a
/// local user requests it. The key file is replaced atomically, so a loss of power never leaves the plug without a key
/// that its controllers know.
extension PlugService {
    enum KeyRotationState {
        case none
        /// At the time `since`, the key was sent to all connected controllers. It is also sent to each controller that
        /// connects later.
        case announced(TransportIdentity, since: Instant)
        /// The key file is being replaced.
        case turning
        /// The key file could not be replaced. The plug tries again at its next start.
        case failed
    }

    private static let unchanged = PanelError(
        "the key was not changed: the plug's flash cannot be written\nhint: see the plug's log")

    /// Continues a rotation that was in progress when the plug stopped.
    func resumeKeyRotation() {
        guard identity != nil, isKeyKept,
            let next = try? TransportIdentity.kept(in: settings.directories.nextKey, isPinned: true)
        else { return }
        guard next.publicKey != identity?.publicKey else {
            try? FileStore().removeIfPresent(settings.directories.nextKey)
            return
        }
        announce(next)
    }

    /// Rotates the key, or reports the state of the rotation.
    ///
    /// - Parameter now: True to replace the key at once. Controllers that do not know the new key must pair again.
    /// - Returns: A description of the state for the user.
    func rotateKey(now: Bool) async throws -> String {
        guard identity != nil, isKeyKept else {
            throw PanelError("the plug has no key in flash that can be replaced\nhint: see the plug's log")
        }
        if case .none = keyRotation {
            let path = settings.directories.nextKey
            let drawn = await onFlashThread { try? TransportIdentity.kept(in: path) }
            guard let drawn else { throw Self.unchanged }
            if case .none = keyRotation { announce(drawn) }
        }
        let (next, since): (TransportIdentity, Instant)
        switch keyRotation {
        case .announced(let announced, let time): (next, since) = (announced, time)
        case .none: return "the plug has a new key"
        case .turning: return "the plug is replacing its key"
        case .failed: throw Self.unchanged
        }
        let missing = machine.access.controllers.delaying(next.publicKey, announcedFor: BootClock.now - since)
        if now || missing.isEmpty {
            guard await turn(to: next) else { throw Self.unchanged }
            return "the plug has a new key"
        }
        let names = missing.map(\.name).joined(separator: ", ")
        return "the next key is announced; the plug uses it when these controllers have stored it: \(names)"
    }

    /// Replaces the key if no controller delays it; see ``PlugProtocol/PairedControllers/delaying(_:announcedFor:)``.
    /// Called after each event.
    func finishKeyRotationIfAcknowledged() {
        guard case .announced(let next, let since) = keyRotation, !flash.holdsMessages, !machine.isStopped,
            machine.access.controllers.delaying(next.publicKey, announcedFor: BootClock.now - since).isEmpty
        else { return }
        Task { await turn(to: next) }
    }

    private func announce(_ next: TransportIdentity) {
        keyRotation = .announced(next, since: BootClock.now)
        handle(.server(.nextKey(next.publicKey)))
    }

    private func turn(to next: TransportIdentity) async -> Bool {
        guard case .announced = keyRotation else { return false }
        keyRotation = .turning
        let (key, nextKey) = (settings.directories.key, settings.directories.nextKey)
        let isTurned = await onFlashThread {
            let files = FileStore()
            guard (try? files.replaceSecret(key, with: Array(next.pem.utf8))) != nil else { return false }
            // If the file remains, the next start detects that this key is in use.
            try? files.removeIfPresent(nextKey)
            return true
        }
        guard isTurned else {
            keyRotation = .failed
            logger.error(
                "the plug keeps its key because flash cannot be written; it retries at the next start")
            return false
        }
        keyRotation = .none
        proof.withLock { $0 = next }
        presence?.listener.show(next)
        handle(.server(.keyTurned))
        logger.notice("the plug has a new key", metadata: ["key": "\(next.publicKey.fingerprint)"])
        return true
    }

    private func onFlashThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            flashThread.perform(work, on: loop) { continuation.resume(returning: $0) }
        }
    }
}
