extension RuleEngine {
    /// The plugs that it knows of, as scripts see them: with what the commands on their way will do, as toggle reckons. Of one that is
    /// away nobody knows what it is now.
    public var views: [PlugView] { (0..<plugs.count).map { view(of: $0) } }

    func view(of index: Int) -> PlugView {
        let plug = plugs[index]
        var view = PlugView(name: plug.name, isConnected: plug.isPresent)
        guard plug.isPresent else { return view }
        view.isOn = plug.expectedOn
        view.level = plug.expectedLevel
        view.activePower = meters[index].hasReading ? meters[index].activePower : nil
        return view
    }
}
