import DNSWire
import ProtocolCore

/// An interface as the responder sees it.
struct Attachment: Sendable {
    /// What one asker alone is to be told.
    private struct Reply {
        let asker: Peer
        var queue: AnswerQueue
    }

    /// So many askers at once are answered each for himself; to more of them the group is the cheaper way, and a host that asks
    /// under many addresses costs no more memory.
    private static let replyLimit = 32

    var network: NetworkInterface
    /// What all are to be told: one a family that has multicast here.
    private(set) var queues: [IPFamily: AnswerQueue] = [:]
    /// In the order in which they asked; none is empty.
    private var replies: [Reply] = []
    /// When the probing that began last sends its first probe: what begins until then joins it in the same packets.
    var probeStart: Instant?

    init(network: NetworkInterface) {
        self.network = network
        for family in network.families { queues[family] = AnswerQueue() }
    }

    /// When the first answer is due.
    var deadline: Instant? {
        replies.reduce(queues.values.reduce(nil) { sooner($0, $1.deadline) }) { sooner($0, $1.queue.deadline) }
    }

    /// True while an answer of the family waits to be sent.
    func hasAnswers(_ family: IPFamily) -> Bool {
        queues[family]?.isEmpty == false || replies.contains { $0.asker.address.family == family }
    }

    /// A family that is new here begins without a past, and one that is gone takes its answers along.
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

    /// Changes whatever waits in the family, for the group and for single askers.
    mutating func changeQueues(of family: IPFamily, _ change: (inout AnswerQueue) -> Void) {
        changeGroupQueue(of: family, change)
        for index in replies.indices where replies[index].asker.address.family == family {
            change(&replies[index].queue)
        }
        replies.removeAll { $0.queue.isEmpty }
    }

    /// False when too many others wait for answers of their own.
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
