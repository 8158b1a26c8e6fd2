public import RuleModel

extension RuleEngine {
    /// The known plugs as scripts see them. Like the action `toggle`, a view assumes the results of commands that are
    /// not answered yet. The state of an absent plug is unknown.
    public var views: [PlugView] { (0..<house.plugs.count).map { view(of: PlugIndex(value: $0)) } }

    /// Returns the plug as scripts see it.
    package func view(of plug: PlugIndex) -> PlugView {
        let index = plug.value
        let plug = house.plugs[index]
        var view = PlugView(name: plug.name, isConnected: plug.isPresent)
        guard plug.isPresent else { return view }
        view.isOn = plug.expectedOn
        view.level = plug.expectedLevel
        view.activePower = house[index].meter.hasReading ? house[index].meter.activePower : nil
        return view
    }
}
