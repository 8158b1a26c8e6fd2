public import PlugModel

/// Maps names to plugs.
extension HouseFollower {
    /// Returns the paired plug with this id under any announced name; nil while it is away. While a plug is not
    /// connected, the id in its announcement counts, or without one the id of its last connection.
    func plug(of id: PlugID) -> FollowedPlug? {
        let own = readings.values.filter { reading in
            isFollowed(reading.plug) && !isNameOwnedByAnother(reading.plug)
                && (reading.isConnected ? reading.plug.id : directory.id(of: reading.plug.name) ?? reading.plug.id)
                    == id
        }
        return own.max { ($0.isConnected ? 1 : 0, $0.number) < ($1.isConnected ? 1 : 0, $1.number) }?.plug
    }

    /// Returns the id that a command to this name is restricted to; nil if no paired plug has the name or if it is
    /// ambiguous.
    func owner(of name: String) -> PlugID? {
        guard case .plug(let id) = PlugNameOwner(of: name, among: names) else { return nil }
        return id
    }

    /// Returns the paired plugs with their last known names; nil if the list cannot be read now.
    public func pairedPlugs() -> [PlugID: String]? { paired() }

    /// Returns the refusal for a command to a name without a plug.
    func absence(of name: String) -> Refusal {
        guard let shared = SharedPlugName(name, among: names) else {
            return Refusal(.deadlinePassed, "the plug is away")
        }
        return Refusal(.unknown, shared.description)
    }
}
