import PlugModel

/// The plug's own keys. They are stored away from the event loop: a plug can send keys as fast as it likes, and a write waits for the disk.
extension FollowedPlug {
    /// The plug announced its next key. Only a stored key is confirmed: the plug uses it then. A key that could not be stored is announced
    /// again at the next session.
    func announced(_ key: PublicKey) {
        guard let id, keys != nil else { return }
        switch announcedKey.announced(key) {
        case .ignore: break
        case .confirm: handle(.nextKeyKept(key))
        case .store: store(key, of: id)
        }
    }

    private func store(_ key: PublicKey, of id: PlugID) {
        guard let keys else { return }
        storingKey = Task {
            let isStored = await keys.announce(key, of: id)
            let (confirms, next) = announcedKey.finished(key, isStored: isStored)
            if confirms { handle(.nextKeyKept(key)) }
            if let next { store(next, of: id) }
        }
    }

    /// The plug proved this key. If it is the key that it had announced, the previous key is no longer valid.
    func proved(_ key: PublicKey, by id: PlugID) {
        guard let keys, announcedKey.isStored(key) else { return }
        storingKey = Task { await keys.proved(key, by: id) }
    }
}
