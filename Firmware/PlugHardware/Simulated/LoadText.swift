/// The reason why a text is not a valid load, with the possible values.
public struct LoadTextError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}

extension PluggedLoad {
    /// The limit of a fixed load, 25 kW; a larger one indicates a wrong unit.
    static let fixedLimit = 25_000.0

    /// Parses a load of `plugd load` and `--simulate`:
    ///
    /// - `television`, `kettle on`: an appliance, in its initial mode or in the given one
    /// - `on`, `standby`, `off`: a mode of the current appliance
    /// - `60 W`, `60`: a fixed power in watts
    /// - `unplugged`
    ///
    /// - Parameter current: the present load, to which a mode without an appliance applies.
    public static func parse(
        _ text: String, replacing current: PluggedLoad = .nothing
    ) throws(LoadTextError) -> PluggedLoad {
        let words = text.lowercased().split(separator: " ").map(String.init)
        if words == ["unplugged"] { return .nothing }
        if let watts = fixedWatts(words) {
            guard (0...fixedLimit).contains(watts) else {
                throw LoadTextError(description: "\(text) is out of range; 0 W to 25000 W are allowed.")
            }
            return .fixed(deciwatts: Int32((watts * 10).rounded()))
        }
        if words.count == 1, let mode = LoadMode(rawValue: words[0]) { return try current.set(to: mode) }
        guard let first = words.first, words.count <= 2, let appliance = SimulatedAppliance(rawValue: first) else {
            throw LoadTextError(description: "\"\(text)\" is not a valid load. \(possible(current))")
        }
        let start = PluggedLoad.appliance(appliance, appliance.modes[0])
        guard words.count == 2 else { return start }
        guard let mode = LoadMode(rawValue: words[1]) else {
            throw LoadTextError(
                description: "A \(first) cannot be set to \"\(words[1])\", only to \(list(appliance.modes)).")
        }
        return try start.set(to: mode)
    }

    private func set(to mode: LoadMode) throws(LoadTextError) -> PluggedLoad {
        guard case .appliance(let appliance, _) = self else {
            throw LoadTextError(
                description:
                    "The load (\(self)) cannot be set to \"\(mode.rawValue)\". \(Self.possible(self))")
        }
        guard appliance.modes.contains(mode) else {
            throw LoadTextError(
                description: "A \(appliance.rawValue) cannot be set to \"\(mode.rawValue)\", "
                    + "only to \(Self.list(appliance.modes)).")
        }
        return .appliance(appliance, mode)
    }

    private static func fixedWatts(_ words: [String]) -> Double? {
        guard let first = words.first, words.count == 1 || words.count == 2 && words[1] == "w" else { return nil }
        let digits = first.hasSuffix("w") && words.count == 1 ? String(first.dropLast()) : first
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D }) else { return nil }
        return Double(digits)
    }

    private static func possible(_ current: PluggedLoad) -> String {
        var choices: [String] = []
        if case .appliance(let appliance, _) = current {
            choices.append("\(list(appliance.modes)) (of the \(appliance.rawValue))")
        }
        let appliances = SimulatedAppliance.allCases.map(\.rawValue).joined(separator: ", ")
        choices += ["an appliance (\(appliances))", "watts such as \"60 W\"", "unplugged"]
        return "Possible loads: \(choices.joined(separator: "; "))."
    }

    private static func list(_ modes: [LoadMode]) -> String { modes.map(\.rawValue).joined(separator: ", ") }
}
