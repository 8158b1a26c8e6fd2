import Automation
import PlugModel
import PowerHistory
import ProtocolCore
import RuleModel

/// Sets up the plugs of the house at the beginning of the span.
extension Backtest {
    /// The time before the span whose samples teach the appliance detector, in milliseconds: one day.
    private static let learning: Int64 = 86_400_000

    mutating func setUp(_ house: PastHouse, _ rules: [Rule], _ span: ClosedRange<Int64>) throws(HistoryError) {
        let known = try house.history.plugs()
        for (name, plug, wanted) in house.wanted(by: rules, scripts, among: known, over: span) {
            guard let plug else {
                setUpUnrecorded(name, wanted, at: span.lowerBound)
                continue
            }
            var stream = PlugStream(
                name: name, id: plug.id,
                cursor: try house.history.cursor(of: plug.id, from: span.lowerBound, to: span.upperBound))
            let journal = try house.history.relay(of: plug.id, at: span.lowerBound, until: span.upperBound)
            relays[name] = VirtualRelay(on: journal ?? true, level: wanted.level)
            if journal != nil {
                switchings[name] = Switchings(.journal, isOn: journal)
            } else if wanted.needsRelay, let level = try SwitchingLevel(of: plug.id, over: span, from: house.history) {
                stream.level = level
                switchings[name] = Switchings(.power, isOn: nil)
            }
            if wanted.needsEnergy { stream.energy = EnergyCount() }
            try stream.refill()
            places[plug.id] = streams.count
            if wanted.needsPower { asked.append(streams.count) }
            if !stream.hasSamples {
                // A plug that is switched but not metered is covered by its journal.
                stream.isJournalled = journal != nil
            }
            streams.append(stream)
            if !stream.hasSamples { appear(streams.count - 1, at: span.lowerBound) }
            if wanted.needsAppliance { try teach(name, plug.id, before: span.lowerBound, house.history) }
        }
    }

    /// Sets up a plug that is named by a rule but not recorded.
    mutating func setUpUnrecorded(_ name: String, _ wanted: PastHouse.Wanted, at time: Int64) {
        report.unrecorded.append(name)
        let relay = VirtualRelay(on: true, level: wanted.level)
        relays[name] = relay
        let appeared = RuleEngineEvent.plugAppeared(
            plug: name, state: relay.state, boot: VirtualRelay.boot)
        perform(engine.handle(appeared, now: Self.instant(time)), at: time)
    }

    private mutating func teach(
        _ name: String, _ plug: PlugID, before time: Int64, _ history: PowerHistory
    ) throws(HistoryError) {
        var past: [RecordedPower] = []
        try history.samples(of: plug, from: time - Self.learning, to: time - 1) { at, sample in
            past.append(RecordedPower(milliseconds: at, deciwatts: sample.deciwatts))
        }
        guard !past.isEmpty else { return }
        perform(engine.handle(.recorded(plug: name, past), now: Self.instant(time)), at: time)
    }
}
