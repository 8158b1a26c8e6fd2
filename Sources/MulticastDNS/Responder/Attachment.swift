import DNSWire
import ProtocolCore

/// The responder's state for one interface.
struct Attachment: Sendable {
    /// The waiting unicast answers for one asker.
    private struct Reply {
        let asker: Peer
        var queue: AnswerQueue
    }

    /// The limit of askers with their own queue. Further askers get multicast, which is then cheaper. The limit keeps a
    /// host that asks from many addresses from using up memory.
    private static let replyLimit = 32

    var network: NetworkInterface
    /// The multicast answers, with one queue per family that has multicast here.
    private(set) var queues: [IPFamily: AnswerQueue] = [:]
    /// The unicast answers in the order of their askers; none is empty.
    private var replies: [Reply] = []
    /// The time of the first probe of the most recent probing. Groups that start before it join the same packets.
    var probeStart: Instant?

    init(network: NetworkInterface) {
        self.network = network
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

    /// Changes the network. A new family starts with an empty queue; the answers of a removed family are dropped.
    mutating func change(to network: NetworkInterface) {
        self.network = network
        for family in IPFamily.allCases where queues.keys.contains(family) != network.families.contains(family) {
            queues[family] = network.families.contains(family) ? AnswerQueue() : nil
        }
        replies.removeAll { !network.families.contains($0.asker.address.family) }
    }

    mutating func changeGroupQueue(of family: IPFamily, _ change: (inout AnswerQueue) -> Void) {
        if queues.keys.contains(family) { change(&queues[family, default: AnswerQueue()]) }
    }

    /// Changes all queues of the family, for the group and for single askers.
    mutating func changeQueues(of family: IPFamily, _ change: (inout AnswerQueue) -> Void) {
        changeGroupQueue(of: family, change)
        for index in replies.indices where replies[index].asker.address.family == family {
            change(&replies[index].queue)
        }
        replies.removeAll { $0.queue.isEmpty }
    }

    /// Queues a unicast answer. Returns false if too many other askers wait for answers.
    mutating func reply(_ answers: [Answer], to asker: Peer, window: ClosedRange<Instant>, isHeld: Bool) -> Bool {
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

    mutating func takeDueReplies(now: Instant) -> [(asker: Peer, answers: [Answer])] {
        let due = replies.indices.compactMap { index -> (Peer, [Answer])? in
            let answers = replies[index].queue.takeDue(now: now)
            return answers.isEmpty ? nil : (replies[index].asker, answers)
        }
        replies.removeAll { $0.queue.isEmpty }
        return due
    }
}
