import JSONText
import PlugBroker
import PlugModel
import PlugProtocol

/// Connects the plug to an MQTT broker, if one is configured.
extension PlugService {
    func openBroker() {
        guard let settings = settings.broker else { return }
        let plug = PlugBroker.Plug(
            page: { [weak self] cursor, limit in
                self?.assumeIsolated { $0.machine.journalPage(after: cursor, limit: limit) }
                    ?? JournalPage([], hasMore: false)
            },
            ask: { [weak self] command in self?.assumeIsolated { $0.handle(.server(.asked(command))) } },
            took: { [weak self] sequence in self?.assumeIsolated { $0.handle(.brokerTook(sequence)) } })
        let broker = PlugBroker(
            machine.identity.id, settings, after: beginningForBroker, on: loop, logger: logger, asking: plug)
        self.broker = broker
        broker.assumeIsolated { $0.start() }
        tellBroker()
    }

    /// Passes the new state to the broker connection after every event, except while messages are held.
    func tellBroker() {
        guard let broker, !flash.holdsMessages, !machine.isStopped else { return }
        let (state, identity, newest) = (machine.state, machine.identity, machine.nextSequence - 1)
        broker.assumeIsolated { $0.look(state, identity, newest: newest) }
    }

    /// The value of `broker` in `plugd status`, or nil if no broker is configured.
    var brokerStatus: JSONObject? {
        guard settings.broker != nil else { return nil }
        if let broker { return broker.assumeIsolated { $0.status } }
        var status = JSONObject()
        status.add("connected", false)
        status.add("reason", "the plug is off the network")
        return status
    }
}
