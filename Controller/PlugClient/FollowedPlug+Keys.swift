import PlugModel

/// Stores the plug's keys. The writes run outside the event loop, because a plug can send keys at any rate and a write
/// waits for the disk.
extension FollowedPlug {
    /// Handles the next key that the plug announced. The controller confirms only stored keys, because the plug uses a
    /// key after its confirmation. If a key cannot be stored, the plug announces it again in the next session.
    func announced(_ key: PublicKey) {
        guard let id, keys != nil else { return }
        switch announcedKey.announced(key) {
        case .ignore: break
        case .confirm: handle(.request(.nextKeyKept(key)))
        case .store: store(key, of: id)
        }
    }

    private func store(_ key: PublicKey, of id: PlugID) {
        guard let keys else { return }
        storingKey = Task {
            let isStored = await keys.announce(key, of: id)
            let (confirms, next) = announcedKey.finished(key, isStored: isStored)
            if confirms { handle(.request(.nextKeyKept(key))) }
            if let next { store(next, of: id) }
        }
    }

    /// Handles the key that the plug proved. If it is the announced key, it replaces the previous key.
    func proved(_ key: PublicKey, by id: PlugID) {
        guard let keys, announcedKey.isStored(key) else { return }
        storingKey = Task { await keys.proved(key, by: id) }
    }
}
