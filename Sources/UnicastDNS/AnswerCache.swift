import DNSWire
import ProtocolCore

/// The answers of the past, each until it expires.
struct AnswerCache: Sendable {
    private struct Key: Hashable {
        let name: Name
        let type: RecordType
    }

    private var answers: [Key: ResolvedRecords] = [:]
    private var byteCount = 0

    /// The limits of the number of answers and of their size in bytes. They prevent a server from filling the memory.
    static let countLimit = 512
    static let byteLimit = 1 << 20

    /// The answer to the question, or nil.
    func answer(to question: Question, now: Instant) -> ResolvedRecords? {
        guard let answer = answers[Key(name: question.name, type: question.type)], answer.expires > now else {
            return nil
        }
        return answer
    }

    mutating func insert(_ answer: ResolvedRecords, to question: Question, now: Instant) {
        let key = Key(name: question.name, type: question.type)
        remove(key)
        let size = Self.size(answer)
        guard answer.expires > now, size <= Self.byteLimit else { return }
        if answers.count >= Self.countLimit || byteCount + size > Self.byteLimit { removeExpired(now: now) }
        while answers.count >= Self.countLimit || byteCount + size > Self.byteLimit, let first = soonest {
            remove(first)
        }
        answers[key] = answer
        byteCount += size
    }

    mutating func removeAll() { self = AnswerCache() }

    /// The answer that expires first. Equal times are ordered by name, so that a run repeats exactly.
    private var soonest: Key? {
        answers.min { left, right in
            left.value.expires == right.value.expires
                ? left.key.name.bytes.lexicographicallyPrecedes(right.key.name.bytes)
                : left.value.expires < right.value.expires
        }?.key
    }

    private mutating func removeExpired(now: Instant) {
        for key in answers.filter({ $0.value.expires <= now }).keys { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        guard let answer = answers.removeValue(forKey: key) else { return }
        byteCount -= Self.size(answer)
    }

    private static func size(_ answer: ResolvedRecords) -> Int {
        answer.records.reduce(64) { $0 + $1.memorySize }
    }
}

extension Record {
    /// The approximate memory of the record in bytes.
    var memorySize: Int { 128 + name.bytes.count + data.uncompressedBytes.count }
}
