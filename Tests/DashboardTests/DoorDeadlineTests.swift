import ProtocolCore
import Testing

@testable import Dashboard

@Suite struct RequestDeadlinesTests {
    private var deadlines = RequestDeadlines(DoorLimits(), now: .zero)
    private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    @Test("Single bytes do not extend the time for the header")
    mutating func aByteNowAndThenBuysNoTime() {
        for second in 0..<10 {
            deadlines.receivedBytes(now: at(second))
            #expect(deadlines.nextDeadline == at(10))
        }
    }

    @Test("The body has its own time limit")
    mutating func theBodyHasItsOwnTime() {
        deadlines.receivedHead(now: at(9))
        for second in 9..<18 { deadlines.receivedBytes(now: at(second)) }
        #expect(deadlines.nextDeadline == at(19))
    }

    @Test("The daemon has no time limit to prepare an answer")
    mutating func anAnswerMayTakeAsLongAsItLikes() {
        deadlines.receivedHead(now: at(1))
        deadlines.receivedEnd(now: at(1))
        #expect(deadlines.nextDeadline == nil)
        #expect(!deadlines.isIdle)
    }

    @Test("An idle connection is closed after a minute")
    mutating func theNextRequestMayWait() {
        deadlines.receivedHead(now: at(1))
        deadlines.receivedEnd(now: at(1))
        deadlines.answered(now: at(2))
        #expect(deadlines.isIdle)
        #expect(deadlines.nextDeadline == at(62))
        deadlines.receivedBytes(now: at(50))
        #expect(!deadlines.isIdle)
        #expect(deadlines.nextDeadline == at(60))
    }

    @Test("A client that does not read its answer is disconnected after a minute")
    mutating func whoTakesNoAnswerIsCutOff() {
        deadlines.receivedHead(now: at(1))
        deadlines.receivedEnd(now: at(1))
        deadlines.becameWritable(false, now: at(5))
        deadlines.becameWritable(false, now: at(20))
        #expect(deadlines.nextDeadline == at(65))
        deadlines.becameWritable(true, now: at(30))
        #expect(deadlines.nextDeadline == nil)
    }
}
