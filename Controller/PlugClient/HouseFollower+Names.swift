public import PlugModel

/// Which plug a name means.
extension HouseFollower {
    /// The paired plug, whatever it is announced as; nil while it is away. One that is not connected is the one that announces this id.
    func plug(of id: PlugID) -> FollowedPlug? {
        let own = readings.values.filter { reading in
            isFollowed(reading.plug) && !isOvershadowed(reading.plug)
                && (reading.isConnected ? reading.plug.id : directory.id(of: reading.plug.name) ?? reading.plug.id)
                    == id
        }
        return own.max { ($0.isConnected ? 1 : 0, $0.number) < ($1.isConnected ? 1 : 0, $1.number) }?.plug
    }

    /// The id that a command to this name is for; nil if no paired plug has the name.
    func owner(of name: String) -> PlugID? {
        guard case .plug(let id) = PlugNameOwner(of: name, among: names) else { return nil }
        return id
    }

    /// The plugs that are paired, by what they were called last; nil where nobody can say now.
    public func pairedPlugs() -> [PlugID: String]? { paired() }

    /// Why there is no plug of that name to command.
    func absence(of name: String) -> Refusal {
        guard let shared = SharedPlugName(name, among: names) else {
            return Refusal(.deadlinePassed, "the plug is away")
        }
        return Refusal(.unknown, shared.description)
    }
}
