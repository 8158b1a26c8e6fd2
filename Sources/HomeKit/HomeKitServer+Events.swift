internal import ProtocolCore

extension HomeKitServer {
    mutating func changed(
        _ values: [CharacteristicKey: CharacteristicValue], by writer: HomeKitSessionID?, _ actions: inout [Action]
    ) {
        for key in values.keys.sorted() {
            guard let value = values[key] else { continue }
            switch table.tell(value, of: key) {
            case .refused: actions.append(.notice(.impossibleValue(key)))
            case .unchanged: break
            case .changed:
                for id in Array(sessions.keys) where sessions[id]?.subscriptions.contains(key) == true {
                    if id == writer {
                        // The writer knows the value, so its waiting event with an older value is obsolete.
                        sessions[id]?.untold.remove(key)
                    } else {
                        sessions[id]?.untold.insert(key)
                    }
                }
            }
        }
    }

    /// Sends a press immediately as a separate event (HAP 6.8). A press that cannot be sent now is dropped, because it
    /// would be too old later.
    mutating func pressed(
        _ key: CharacteristicKey, _ value: CharacteristicValue, _ now: Instant, _ actions: inout [Action]
    ) {
        guard let characteristic = table[key], characteristic.isPress, let told = characteristic.told(value) else {
            return actions.append(.notice(.impossibleValue(key)))
        }
        let event = HTTPResponse.event(CharacteristicWrite.event([(key, told)]))
        for id in sessions.keys.sorted() {
            guard let session = sessions[id], session.subscriptions.contains(key), session.hasRoom else { continue }
            send(event, to: id, now, &actions)
        }
    }

    /// Sends changed values to each session at most once per second, with their current value (HAP 6.8).
    mutating func tellValues(_ now: Instant, _ actions: inout [Action]) {
        for id in sessions.keys.sorted() {
            guard let session = sessions[id], let due = session.eventDeadline, due <= now else { continue }
            let values = session.untold.sorted().compactMap { key in table.value(of: key).map { (key, $0) } }
            sessions[id]?.untold = []
            sessions[id]?.eventsAt = now + HomeKitSession.eventPause
            send(HTTPResponse.event(CharacteristicWrite.event(values)), to: id, now, &actions)
        }
    }
}
