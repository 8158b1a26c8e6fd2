import RuleModel
import Synchronization
import Testing

@testable import Scripting

@Suite("The queue of calls") struct ScriptJobsTests {
    /// Records the outcomes as text, in their order.
    private final class Answers: Sendable {
        private let kept = Mutex<[String]>([])
        var all: [String] { kept.withLock { $0 } }

        func job(_ id: UInt64) -> ScriptJobs.Job {
            ScriptJobs.Job(id: id, call: .press(), plugs: [], state: nil, time: .start) { outcome in
                let words =
                    switch outcome {
                    case .answered: "answered"
                    case .failed(let why, log: _): why
                    case nil: "nothing"
                    }
                self.kept.withLock { $0.append("\(id) \(words)") }
            }
        }
    }

    private let jobs = ScriptJobs()
    private let answers = Answers()

    @Test("An outcome that arrives after the worker's turn has ended is ignored")
    func answerOfOneWhoseTurnIsOverDoesNotCount() throws {
        let old = jobs.begin()
        for id in [1, 2] as [UInt64] { jobs.add(answers.job(id)) }
        let first = try #require(jobs.next(old))
        let new = jobs.begin()
        #expect(jobs.isOver(old) && !jobs.isOver(new) && jobs.next(old) == nil)
        #expect(!jobs.settle(first, .answered(ScriptAnswer()), old))
        jobs.putBack(first, old)
        let again = try #require(jobs.next(new))
        #expect(again.id == 1 && !jobs.settle(first, .failed("late"), old))
        #expect(jobs.settle(again, .answered(ScriptAnswer()), new))
        #expect(jobs.next(new)?.id == 2)
        #expect(answers.all == ["1 answered"])
    }

    @Test("An outcome of a withdrawn call is ignored") func answerThatNobodyWantsDoesNotCount() throws {
        let turn = jobs.begin()
        for id in [1, 2] as [UInt64] { jobs.add(answers.job(id)) }
        let job = try #require(jobs.next(turn))
        for id in [2, 1, 1, 3] as [UInt64] { jobs.giveUp(id) }
        #expect(!jobs.settle(job, .answered(ScriptAnswer()), turn))
        jobs.putBack(job, turn)
        #expect(jobs.next(turn) == nil && answers.all == ["2 nothing", "1 nothing"])
    }

    @Test("Closing completes all calls exactly once") func closingAnswersAllOnce() throws {
        let turn = jobs.begin()
        for id in [1, 2] as [UInt64] { jobs.add(answers.job(id)) }
        let job = try #require(jobs.next(turn))
        jobs.close(.failed("gone"))
        #expect(jobs.isOver(turn) && !jobs.settle(job, .answered(ScriptAnswer()), turn))
        jobs.add(answers.job(3))
        jobs.giveUp(1)
        #expect(answers.all == ["1 gone", "2 gone", "3 gone"])
    }
}
