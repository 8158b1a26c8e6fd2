import PlugModel
import PlugProtocol
import PlugTransport

/// The connections of controllers and the state of their flow control.
struct ControllerConnections {
    private var connections: [ConnectionID: Connection] = [:]
    /// The connections whose send buffers are full.
    private var unwritable: Set<ConnectionID> = []
    /// Connections from which nothing is read, because their controllers have sent too many messages.
    private var paused: Set<ConnectionID> = []

    var isEmpty: Bool { connections.isEmpty }

    mutating func add(_ connection: Connection) { connections[connection.id] = connection }

    mutating func remove(_ id: ConnectionID) {
        connections[id] = nil
        unwritable.remove(id)
        paused.remove(id)
    }

    subscript(id: ConnectionID) -> Connection? { connections[id] }

    /// Returns the connections of the controllers whose keys meet the condition.
    func all(where matches: (PublicKey) -> Bool) -> [Connection] { connections.values.filter { matches($0.peerKey) } }

    /// Records a change of a send buffer.
    mutating func setWritable(_ id: ConnectionID, _ isWritable: Bool) {
        if isWritable { unwritable.remove(id) } else { unwritable.insert(id) }
    }

    /// Returns all connections, in order, and whether their send buffers have room.
    var writability: [(id: ConnectionID, isWritable: Bool)] {
        connections.keys.sorted { $0.rawValue < $1.rawValue }.map { ($0, !unwritable.contains($0)) }
    }

    /// Records that reading pauses. Returns false if it was paused before.
    mutating func pause(_ id: ConnectionID) -> Bool { paused.insert(id).inserted }

    /// Records that reading resumes on the paused connections that meet the condition, and returns them.
    mutating func resume(where isReady: (ConnectionID) -> Bool) -> [Connection] {
        guard !paused.isEmpty else { return [] }
        let ready = paused.filter(isReady)
        paused.subtract(ready)
        return ready.compactMap { connections[$0] }
    }
}
