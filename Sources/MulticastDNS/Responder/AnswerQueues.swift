import DNSWire
import ProtocolCore

/// The waiting answers of one interface.
struct AnswerQueues: Sendable {
    /// The waiting unicast answers for one asker.
    private struct Reply {
        let asker: Peer
        var queue: AnswerQueue
    }

    /// The limit of askers with their own queue. Further askers get their answers by multicast, because for so many
    /// askers one multicast costs less than many unicast answers. The limit keeps a host that asks from many addresses
    /// from using up memory.
    private static let replyLimit = 32

    /// The multicast answers, with one queue per family that has multicast here.
    private var queues: [IPFamily: AnswerQueue] = [:]
    /// The queues of unicast answers, in the order in which the askers came. No queue is empty.
    private var replies: [Reply] = []

    init(network: NetworkInterface) {
        for family in network.families { queues[family] = AnswerQueue() }
    }

    /// The time of the first due answer, or nil if no answer waits.
    var deadline: Instant? {
        replies.reduce(queues.values.reduce(nil) { sooner($0, $1.deadline) }) { sooner($0, $1.queue.deadline) }
    }

    /// Returns true while an answer of the family waits to be sent.
    func hasAnswers(_ family: IPFamily) -> Bool {
        queues[family]?.isEmpty == false || replies.contains { $0.asker.address.family == family }
    }

    func lastMulticast(of answer: Answer, in family: IPFamily) -> Instant? { queues[family]?.lastMulticast(of: answer) }

    /// Returns the answers that may be multicast now (RFC 6762 §6), or nil if the family has no multicast here.
    func allowed(_ answers: [[Answer]], in family: IPFamily, now: Instant) -> [[Answer]]? {
        guard let queue = queues[family] else { return nil }
        return answers.map { group in group.filter { queue.mayMulticast($0, now: now) } }
    }

    /// Changes the network. A new family starts with an empty queue; the answers of a removed family are dropped.
    mutating func change(to network: NetworkInterface) {
        for family in IPFamily.allCases where queues.keys.contains(family) != network.families.contains(family) {
            queues[family] = network.families.contains(family) ? AnswerQueue() : nil
        }
        replies.removeAll { !network.families.contains($0.asker.address.family) }
    }

    /// Queues the answers to a query, each for its time window.
    mutating func schedule(
        _ selected: SelectedAnswers, to inbound: InboundMessage, now: Instant, _ random: inout SeededRandom
    ) {
        if !selected.unicast.isEmpty {
            // A unicast answer has the same timing rules as a multicast one (§5.4): random delays prevent many hosts
            // from answering at the same time.
            let window = selected.window(for: selected.unicast, to: inbound, now: now, &random)
            let isHeld = selected.isHeld(inbound)
            if !reply(selected.unicast, to: inbound.source, window: window, isHeld: isHeld) {
                multicast(selected.unicast, selected, to: inbound, now: now, &random)
            }
        }
        multicast(selected.multicast, selected, to: inbound, now: now, &random)
    }

    private mutating func multicast(
        _ answers: [Answer], _ selected: SelectedAnswers, to inbound: InboundMessage, now: Instant,
        _ random: inout SeededRandom
    ) {
        guard !answers.isEmpty else { return }
        let window = selected.window(for: answers, to: inbound, now: now, &random)
        let isHeld = selected.isHeld(inbound)
        let interval = selected.isDefence ? RFC6762.defenceInterval : RFC6762.multicastInterval
        let asker = selected.isDefence ? nil : inbound.source
        changeGroupQueue(of: inbound.source.address.family) { queue in
            for answer in answers {
                queue.enqueue(answer, window: window, asker: asker, interval: interval, isHeld: isHeld)
            }
        }
    }

    /// Queues a unicast answer. Returns false if too many other askers wait for answers.
    private mutating func reply(_ answers: [Answer], to asker: Peer, window: ClosedRange<Instant>, isHeld: Bool) -> Bool
    {
        if !replies.contains(where: { $0.asker == asker }) {
            guard replies.count < Self.replyLimit else { return false }
            replies.append(Reply(asker: asker, queue: AnswerQueue()))
        }
        guard let index = replies.firstIndex(where: { $0.asker == asker }) else { return false }
        for answer in answers {
            replies[index].queue.enqueue(answer, window: window, asker: asker, interval: .zero, isHeld: isHeld)
        }
        return true
    }

    /// Repeats an answer that another host sent with too short a time to live (§6.6), at the latest one second after
    /// this host's last multicast of the answer.
    mutating func correct(_ answer: Answer, in family: IPFamily, now: Instant) {
        changeGroupQueue(of: family) {
            $0.enqueue(answer, window: now...now, asker: nil, interval: RFC6762.multicastInterval)
        }
    }

    /// Removes the answers that the asker knows (§7.2).
    mutating func suppress(for asker: Peer, where isKnown: (Answer) -> Bool) {
        changeQueues(of: asker.address.family) { $0.suppress(for: asker, where: isKnown) }
    }

    /// Delays the answers of an asker that announced more known answers (§7.2).
    mutating func hold(for asker: Peer, until due: Instant) {
        changeQueues(of: asker.address.family) { $0.hold(for: asker, until: due) }
    }

    /// Removes an answer that another host has just sent (§7.4).
    mutating func cancel(_ answer: Answer, in family: IPFamily) {
        changeQueues(of: family) { $0.cancel(answer) }
    }

    /// Removes a group's changed answers and the times of their last multicasts, in all families.
    mutating func forget(_ group: GroupID, where hasChanged: (Answer.Slot) -> Bool) {
        for family in IPFamily.allCases { changeQueues(of: family) { $0.forget(group, where: hasChanged) } }
    }

    mutating func noteMulticast(_ answers: some Sequence<Answer>, in family: IPFamily, now: Instant) {
        changeGroupQueue(of: family) { $0.noteMulticast(answers, now: now) }
    }

    /// Removes and returns the due multicast answers of a family.
    mutating func takeDue(in family: IPFamily, now: Instant) -> [Answer] {
        var due: [Answer] = []
        changeGroupQueue(of: family) { due = $0.takeDue(now: now) }
        return due
    }

    /// Removes and returns the due unicast answers.
    mutating func takeDueReplies(now: Instant) -> [(asker: Peer, answers: [Answer])] {
        let due = replies.indices.compactMap { index -> (Peer, [Answer])? in
            let answers = replies[index].queue.takeDue(now: now)
            return answers.isEmpty ? nil : (replies[index].asker, answers)
        }
        replies.removeAll { $0.queue.isEmpty }
        return due
    }

    private mutating func changeGroupQueue(of family: IPFamily, _ change: (inout AnswerQueue) -> Void) {
        if queues.keys.contains(family) { change(&queues[family, default: AnswerQueue()]) }
    }

    /// Changes all queues of the family, for the group and for single askers.
    private mutating func changeQueues(of family: IPFamily, _ change: (inout AnswerQueue) -> Void) {
        changeGroupQueue(of: family, change)
        for index in replies.indices where replies[index].asker.address.family == family {
            change(&replies[index].queue)
        }
        replies.removeAll { $0.queue.isEmpty }
    }
}
