import PlugModel

extension WireControllers {
    func model() throws(MessageFault) -> [PairedControllerEntry] {
        let limit = PairedControllers.limit
        guard controllers.count <= limit else {
            throw .outOfRange(field: "controllers", value: Int64(controllers.count), allowed: 0...Int64(limit))
        }
        var entries: [PairedControllerEntry] = []
        for wire in controllers {
            guard wire.fingerprint.utf8.count == 64 else {
                throw .length(field: "fingerprint", bytes: wire.fingerprint.utf8.count, allowed: 64...64)
            }
            entries.append(
                PairedControllerEntry(
                    name: try WireScalar.name(wire.name, "name"), fingerprint: wire.fingerprint,
                    isConnected: wire.connected, isAsker: wire.asker, role: wire.role.model,
                    secondsLeft: wire.hasSecondsLeft ? wire.secondsLeft : nil))
        }
        return entries
    }
}
