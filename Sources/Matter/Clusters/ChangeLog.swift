import MatterSessions

/// The attributes that changed, and the data versions of all clusters (Matter 7.10.3).
struct ChangeLog: Sendable {
    private struct Key: Hashable {
        let endpoint: UInt16
        let cluster: UInt32
    }

    private var versions: [Key: UInt32] = [:]
    private var changes: Set<ConcretePath> = []

    /// Creates a log with random versions.
    init(_ model: DataModel, randomness: inout MatterRandomness) {
        for endpoint in model.endpoints {
            for cluster in endpoint.clusters {
                versions[Key(endpoint: endpoint.number, cluster: cluster.id.rawValue)] = randomness.integer()
            }
        }
    }

    func version(of cluster: UInt32, on endpoint: UInt16) -> UInt32 {
        versions[Key(endpoint: endpoint, cluster: cluster)] ?? 0
    }

    /// Records a change. Each one increases the version of the cluster.
    mutating func record(_ path: ConcretePath) {
        changes.insert(path)
        versions[Key(endpoint: path.endpoint, cluster: path.cluster)]? &+= 1
    }

    mutating func takeChanges() -> Set<ConcretePath> {
        let taken = changes
        changes = []
        return taken
    }
}
