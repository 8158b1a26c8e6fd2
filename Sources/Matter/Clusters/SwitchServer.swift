import MatterWire
import ProtocolCore

/// Switch for the plug's button (Matter application clusters 1.13).
struct SwitchServer: ClusterServer {
    private static let positions: UInt64 = 2
    private static let pressMax: UInt64 = 2
    private static let released: UInt64 = 0
    private static let pressed: UInt64 = 1

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, SwitchCluster.Attribute.self, or: .unsupportedAttribute) {
        case .numberOfPositions: .unsigned(Self.positions)
        // The plug reports a press when it is over.
        case .currentPosition: .unsigned(Self.released)
        case .multiPressMax: .unsigned(Self.pressMax)
        }
    }

    /// Records the events of a press (Matter application clusters 1.13.7). The count is last, because the press is
    /// over when the plug reports it.
    ///
    /// - Parameter number: the number of the press in the plug's journal. A press that is not newer than the newest
    ///   reported one is ignored.
    static func record(_ press: MatterPress, number: UInt64, now: Instant, _ state: inout NodeState) {
        guard state.configuration.features.hasButton, number > state.records.counters.lastPress else { return }
        state.records.counters.lastPress = number
        for (event, fields) in events(of: press) {
            state.record(event, of: .switchCluster, on: DataModel.button, fields, now: now)
        }
    }

    private static func events(of press: MatterPress) -> [(SwitchCluster.Event, TLVValue)] {
        let position = TLVValue.fields((0, .unsigned(pressed)))
        func counted(_ count: UInt64) -> TLVValue { .fields((0, .unsigned(pressed)), (1, .unsigned(count))) }
        return switch press {
        case .single: [(.initialPress, position), (.shortRelease, position), (.multiPressComplete, counted(1))]
        case .double:
            [
                (.initialPress, position), (.shortRelease, position), (.initialPress, position),
                (.multiPressOngoing, counted(2)), (.shortRelease, position), (.multiPressComplete, counted(2)),
            ]
        case .long: [(.initialPress, position), (.longPress, position), (.longRelease, position)]
        }
    }
}
