/// A difference between two lists of interfaces.
public enum InterfaceChange: Sendable, Hashable {
    case added(LinuxInterface)
    /// An interface with the same index and other attributes. `linkWasLost` is true if the number of carrier changes
    /// differs: the carrier was lost, restored or both in between.
    case changed(LinuxInterface, linkWasLost: Bool)
    /// The interface as it was in the old list.
    case removed(LinuxInterface)

    /// Returns the changes from one list to the other: removals first, then the others, each sorted by index.
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
