import Automation
import PlugProtocol
import PowerHistory
import ProtocolCore

/// The plugs of a house as they are at the beginning.
extension Backtest {
    /// What an appliance did in the day before is what teaches to know it.
    private static let learning: Int64 = 86_400_000
    /// Of a journal that goes far back, no more than the newest events tell how a relay stood.
    private static let newest = 200

    mutating func setUp(_ house: PastHouse, _ rules: [Rule], _ span: ClosedRange<Int64>) throws(HistoryError) {
        let known = try house.history.plugs()
        for (name, plug, wanted) in house.wanted(by: rules, among: known) {
            guard let plug else {
                setUpUnrecorded(name, at: span.lowerBound)
                continue
            }
            var stream = PlugStream(
                name: name, id: plug.id,
                cursor: try house.history.cursor(of: plug.id, from: span.lowerBound, to: span.upperBound))
            let journal = try relay(of: plug.id, before: span, house.history)
            relays[name] = VirtualRelay(on: journal ?? true)
            if journal != nil {
                switchings[name] = Switchings(.journal, isOn: journal)
            } else if wanted.needsRelay, let level = try OnLevel(of: plug.id, over: span, from: house.history) {
                stream.level = level
                switchings[name] = Switchings(.power, isOn: nil)
            }
            if wanted.needsEnergy { stream.energy = EnergyCount() }
            try stream.begin()
            places[plug.id] = streams.count
            if wanted.needsPower { asked.append(streams.count) }
            streams.append(stream)
            if !stream.hasSamples { appear(streams.count - 1, at: span.lowerBound) }
            if wanted.needsAppliance { try teach(name, plug.id, before: span.lowerBound, house.history) }
        }
    }

    /// A plug that only the rules know.
    private mutating func setUpUnrecorded(_ name: String, at time: Int64) {
        report.unrecorded.append(name)
        relays[name] = VirtualRelay(on: true)
        let appeared = RuleEngineEvent.plugAppeared(
            plug: name, state: PlugState(relayOn: true, level: DimLevel(percent: 100)), boot: VirtualRelay.boot)
        perform(engine.handle(appeared, now: Self.instant(time)), at: time)
    }

    /// How the relay stood when the span began, by the plug's journal; nil where that says nothing of it, then or later.
    private func relay(
        of plug: PlugID, before span: ClosedRange<Int64>, _ history: PowerHistory
    ) throws(HistoryError) -> Bool? {
        let earlier = try history.events(of: plug, from: .min, to: span.lowerBound - 1, newest: Self.newest)
        if let last = earlier.compactMap(\.relay).last { return last }
        let later = try history.events(of: plug, from: span.lowerBound, to: span.upperBound, newest: Self.newest)
        // It stood the other way before it was switched.
        return later.compactMap(\.relay).first.map { !$0 }
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

extension StoredEvent {
    /// How it left the relay.
    var relay: Bool? {
        guard case .event(let event) = content, case .relayChanged(let on, _) = event.kind else { return nil }
        return on
    }
}
