import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery

/// The registration of one link: the proxies in their order, and the messages that the current one has not answered. They
/// are sent one after the other, because a proxy accepts a later message only after the first one, which has the addresses.
struct LinkRegistration: Sendable {
    /// The registration with the current proxy.
    private struct Attempt {
        let proxy: FoundSleepProxy
        /// The messages that the proxy has not answered, in order.
        var unanswered: ArraySlice<(id: UInt16, bytes: [UInt8])>
        /// The shortest lease that the proxy granted, in seconds.
        var lease = UInt32.max
        var transmissions = 0
        var next: Instant
    }

    private enum State {
        case registering(Attempt)
        case finished(SleepOutcome)
    }

    /// The pauses after each transmission to one proxy. Before a proxy answers, it checks that the host's addresses
    /// answer from the host's card, which takes up to a second. After the last pause the next proxy gets its turn.
    private static let pauses: [Duration] = [.milliseconds(250), .milliseconds(450), .milliseconds(800)]

    let link: SleepingLink
    private let owner: OwnerOption
    /// The proxies of the link, and those whose turn has not come.
    private let proxies: [FoundSleepProxy]
    private var others: ArraySlice<FoundSleepProxy>
    private var state = State.finished(.noProxy)
    /// True if a proxy may have records of the link, even if its answer was lost.
    private(set) var hasSent = false

    /// Begins with the best proxy on the link.
    init(
        _ link: SleepingLink, owner: OwnerOption, proxies: [FoundSleepProxy], now: Instant,
        _ random: inout SeededRandom
    ) {
        self.link = link
        self.owner = owner
        self.proxies = FoundSleepProxy.sorted(proxies.filter { $0.interface == link.interface })
        others = self.proxies[...]
        if link.records.isEmpty {
            state = .finished(.nothingAnnounced)
        } else {
            tryNext(or: .noProxy, now: now, &random)
        }
    }

    /// The result, or nil while a proxy may still answer.
    var outcome: SleepOutcome? {
        guard case .finished(let outcome) = state else { return nil }
        return outcome
    }

    /// The time of the next transmission.
    var deadline: Instant? {
        guard case .registering(let attempt) = state else { return nil }
        return attempt.next
    }

    private mutating func tryNext(or outcome: SleepOutcome, now: Instant, _ random: inout SeededRandom) {
        guard let proxy = others.popFirst() else {
            state = .finished(outcome)
            return
        }
        // An attacker that cannot see the messages does not know the identifier.
        let id = UInt16.random(in: .min ... .max, using: &random)
        let registration = SleepRegistration(id: id, records: link.records, owner: owner)
        do throws(MessageTooLong) {
            let messages = try registration.messages().map { (id: $0.id, bytes: $0.bytes) }
            state = .registering(Attempt(proxy: proxy, unanswered: messages[...], next: now))
        } catch {
            state = .finished(.tooLarge)
        }
    }

    /// Sends the first unanswered message if it is due. After the last transmission the next proxy gets its turn.
    mutating func advance(now: Instant, _ random: inout SeededRandom, _ actions: inout [SleepClient.Action]) {
        while case .registering(var attempt) = state, attempt.next <= now {
            guard attempt.transmissions < Self.pauses.count else {
                tryNext(or: .noAnswer(from: attempt.proxy.name), now: now, &random)
                continue
            }
            if let message = attempt.unanswered.first {
                actions.append(.send(message.bytes, to: attempt.proxy.peer, interface: link.interface))
            }
            hasSent = true
            attempt.next = now + Self.pauses[attempt.transmissions]
            attempt.transmissions += 1
            state = .registering(attempt)
        }
    }

    /// Handles an answer of the current proxy, which may come from another of its addresses; answers of other peers and to
    /// other messages are ignored. Some of the host's packets can arrive on a different interface of the same link, so the interface only counts for link-local
    /// addresses, which exist once per link.
    mutating func handle(
        _ answer: SleepRegistrationAnswer, from peer: Peer, interface: InterfaceID, now: Instant,
        _ random: inout SeededRandom
    ) {
        guard case .registering(var attempt) = state,
            proxies.contains(where: { $0.name == attempt.proxy.name && $0.peer == peer }),
            interface == link.interface || !peer.address.isLinkLocal, attempt.unanswered.first?.id == answer.id
        else { return }
        guard answer.isSuccess else {
            // This proxy would refuse again at its other addresses.
            others = others.filter { $0.name != attempt.proxy.name }[...]
            tryNext(or: .refused(by: attempt.proxy.name, code: answer.code), now: now, &random)
            return
        }
        attempt.unanswered.removeFirst()
        attempt.lease = min(attempt.lease, answer.lease ?? SleepRegistration.usualLease)
        (attempt.transmissions, attempt.next) = (0, now)
        state =
            attempt.unanswered.isEmpty
            ? .finished(.registered(with: attempt.proxy.name, lease: .seconds(Int64(attempt.lease))))
            : .registering(attempt)
    }

    /// Ends the registration because the host must sleep now.
    mutating func end() {
        guard case .registering(let attempt) = state else { return }
        state = .finished(.noAnswer(from: attempt.proxy.name))
    }
}
