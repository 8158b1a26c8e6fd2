import PlugModel
import PlugProtocol
import ProtocolCore

/// Handles the updates of the session and the requests to it.
extension PlugFollower {
    mutating func deliver(_ update: SessionUpdate, now: Instant) -> [Action] {
        switch update {
        case .welcomed(let plug): welcomed(plug, now: now)
        case .subscribed(let next, let gap): subscribed(next: next, gap)
        case .snapshot(let state): [.deliver(.snapshot(state))]
        case .event(let event, let age): self.event(event, age: age)
        case .unknownEvent(let sequence): unknownEvent(sequence)
        case .state(let state): [.deliver(.state(state))]
        case .commandFinished(let id, let outcome): finished(id, outcome)
        case .commandUnanswered(let id): unanswered(id, now: now)
        case .samples(let fetch, let chunk, let last): samples(fetch, chunk, last: last)
        // The machine has at most as many fetches as one session accepts, so this case cannot occur.
        case .fetchRefused(let fetch):
            preconditionFailure("fetch \(fetch) exceeds the limit of its session, which this machine enforces")
        case .answer(let answer): [.answer(answer)]
        case .nextKey(let key): [.nextKey(key)]
        case .described(let name, let given, let settings): [.described(name: name, given: given, settings)]
        case .log(let update): heard(update, now: now)
        case .ended(let reason): ended(Disconnection(reason), now: now)
        }
    }

    private mutating func welcomed(_ plug: PlugDescription, now: Instant) -> [Action] {
        // Each plug id has its own event numbers, so a paired plug must not state the id of a different paired plug.
        if let expected, plug.id != expected, case .connected(let connection, _) = state {
            return [.close(connection)] + ended(.distrusted(id: plug.id, expected: expected), now: now)
        }
        welcomedAt = now
        let events = position?.subscription(at: plug.id) ?? .none
        // `name` is nil: the `connected` report contains the name, and a rename while the plug was away is not reported
        // as a change during the session.
        var actions = [Action.described(name: nil, given: plug.givenName, plug.settings), .deliver(.connected(plug))]
        if position != nil || stateOptions != nil {
            let options = SubscriptionOptions(events: events, state: stateOptions)
            actions += inSession(nil, .subscribe(options), now: now)
        }
        // Commands are sent after the subscription, so that their events are received.
        return actions + pending.flatMap { send($0.id, $0.command, now: now) }
            + fetches.map(\.id).flatMap { ask($0, now: now) } + askForLog(now: now)
    }

    private mutating func subscribed(next: SequenceNumber, _ gap: Gap?) -> [Action] {
        if let gap {
            position?.moved(to: gap.to)
            return [.deliver(.gap(gap))]
        }
        guard let position, position.last == nil else { return [] }
        self.position?.moved(to: next - 1)
        return [.deliver(.following(after: next - 1))]
    }

    private mutating func event(_ event: PlugEvent, age: Duration?) -> [Action] {
        position?.moved(to: event.sequence)
        return [.deliver(.event(event, age: age))]
    }

    private mutating func unknownEvent(_ sequence: SequenceNumber) -> [Action] {
        position?.moved(to: sequence)
        return []
    }

    /// Schedules the next attempt. Pending commands and fetches continue after `.away`, and fail after any other
    /// reason.
    mutating func ended(_ reason: Disconnection, now: Instant) -> [Action] {
        let retry = retryLater(after: reason, now: now)
        let refusal: Refusal
        switch reason {
        case .away: return retry
        case .incompatible(let words): refusal = Refusal(.unsupported, words)
        case .distrusted(let words): refusal = Refusal(.notPaired, words)
        }
        // Following continues until the reason is resolved, but pending commands and fetches receive the reason now.
        let refused =
            pending.map { Action.finished($0.id, .refused(refusal)) } + fetches.map { .fetchRefused($0.id, refusal) }
        pending = []
        fetches = []
        return retry + refused
    }

    // MARK: Commands

    mutating func command(_ id: RequestID, _ command: PlugCommand, now: Instant) -> [Action] {
        if case .stopped = state {
            let refusal = Refusal(.deadlinePassed, "the plug is no longer followed")
            return [.finished(id, .refused(refusal))]
        }
        guard !pending.contains(where: { $0.id == id }) else { return [] }
        guard pending.count < Self.maximumPendingCommands else {
            let refusal = Refusal(.busy, "\(pending.count) commands are already waiting for this plug")
            return [.finished(id, .refused(refusal))]
        }
        pending.append((id, command))
        return welcomedAt == nil ? [] : send(id, command, now: now)
    }

    private mutating func send(_ id: RequestID, _ command: PlugCommand, now: Instant) -> [Action] {
        inSession(nil, .command(id, command, deadline: now + Self.commandDeadline), now: now)
    }

    mutating func withdraw(_ id: RequestID) -> [Action] {
        pending.removeAll { $0.id == id }
        return []
    }

    private mutating func finished(_ id: RequestID, _ outcome: CommandOutcome) -> [Action] {
        // A command that was sent twice is answered twice. The second answer is ignored.
        guard let index = pending.firstIndex(where: { $0.id == id }) else { return [] }
        pending.remove(at: index)
        return [.finished(id, outcome)]
    }

    private mutating func unanswered(_ id: RequestID, now: Instant) -> [Action] {
        guard let command = pending.first(where: { $0.id == id })?.command else { return [] }
        return send(id, command, now: now)
    }

    // MARK: Samples

    mutating func fetch(_ fetch: SampleFetch, now: Instant) -> [Action] {
        if case .stopped = state {
            return [.fetchRefused(fetch.id, Refusal(.deadlinePassed, "the plug is no longer followed"))]
        }
        guard fetches.count < SampleFetch.limit else {
            return [
                .fetchRefused(fetch.id, Refusal(.busy, "\(fetches.count) fetches are already waiting for this plug"))
            ]
        }
        fetches.append(fetch)
        return welcomedAt == nil ? [] : ask(fetch.id, now: now)
    }

    private mutating func ask(_ id: UInt32, now: Instant) -> [Action] {
        guard let clock, let index = fetches.firstIndex(where: { $0.id == id }) else { return [] }
        guard let range = fetches[index].remaining(of: clock) else {
            fetches.remove(at: index)
            return [.fetchRefused(id, Refusal(.outOfRange, "the plug has restarted and no longer has earlier samples"))]
        }
        return inSession(nil, .fetchSamples(id, from: range.from, to: range.to), now: now)
    }

    mutating func withdraw(fetch id: UInt32) -> [Action] {
        guard let index = fetches.firstIndex(where: { $0.id == id }) else { return [] }
        fetches[index].isWithdrawn = true
        // The session still receives the rest of the fetch. Until its last part has arrived, the fetch keeps its number
        // and its place in `fetches`.
        if welcomedAt == nil { fetches.remove(at: index) }
        return []
    }

    private mutating func samples(_ id: UInt32, _ chunk: [UInt8], last: Bool) -> [Action] {
        guard let clock, let index = fetches.firstIndex(where: { $0.id == id }) else { return [] }
        fetches[index].received(chunk, of: clock.boot)
        let isWithdrawn = fetches[index].isWithdrawn
        if last { fetches.remove(at: index) }
        return isWithdrawn ? [] : [.samples(id, chunk: chunk, of: clock, last: last)]
    }
}
