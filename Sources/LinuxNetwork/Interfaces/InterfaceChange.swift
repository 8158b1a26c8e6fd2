/// What happened to an interface between two lists.
public enum InterfaceChange: Sendable, Hashable {
    case added(LinuxInterface)
    /// Same index, anything else different. `linkWasLost` tells that its carrier went and came back in between.
    case changed(LinuxInterface, linkWasLost: Bool)
    case removed(LinuxInterface)

    /// The changes that turn one list into the other, removals first, each group by index.
    public static func changes(from old: [LinuxInterface], to new: [LinuxInterface]) -> [InterfaceChange] {
        let before = Dictionary(uniqueKeysWithValues: old.map { ($0.index, $0) })
        let after = Dictionary(uniqueKeysWithValues: new.map { ($0.index, $0) })
        var changes: [InterfaceChange] = []
        for interface in old.sorted(by: { $0.index < $1.index }) where after[interface.index] == nil {
            changes.append(.removed(interface))
        }
        for interface in new.sorted(by: { $0.index < $1.index }) {
            guard let known = before[interface.index] else {
                changes.append(.added(interface))
                continue
            }
            guard known != interface else { continue }
            let linkWasLost = known.carrierChanges != interface.carrierChanges
            changes.append(.changed(interface, linkWasLost: linkWasLost))
        }
        return changes
    }
}
