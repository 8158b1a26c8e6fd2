import Automation
internal import Glibc
import ProtocolCore

/// A script, its process, and the thread on which both are waited for.
final class ScriptWorker: Sendable {
    let script: Script
    let jobs: ScriptJobs
    private let host: String
    private let wake: Wake
    private let turn: Int
    /// What the first process begins with.
    private let state: String?
    private let cord = Cord()
    private let tell: @Sendable (ScriptNotice) -> Void

    /// Takes over what an earlier one has not answered. Nil where no descriptors are left.
    init?(
        _ script: Script, host: String, state: String?, jobs: ScriptJobs,
        tell: @escaping @Sendable (ScriptNotice) -> Void
    ) {
        guard let wake = Wake() else { return nil }
        (self.script, self.host, self.state, self.jobs, self.wake, self.tell) = (script, host, state, jobs, wake, tell)
        turn = jobs.begin()
    }

    func add(_ job: ScriptJobs.Job) {
        jobs.add(job)
        wake.wake()
    }

    /// All that waits is answered with this; its process ends, and then its thread.
    func end(_ outcome: ScriptOutcome?) {
        jobs.close(outcome)
        leave()
    }

    /// Its process ends, also in the midst of a call, and then its thread: another one has its turn.
    func leave() {
        cord.cut()
        wake.wake()
    }

    // MARK: - On its thread

    private struct Life {
        var restarts = ScriptRestarts(now: .now)
        var process: ScriptProcess?
        /// What the process has, and the next one begins with.
        var state: String?
    }

    /// Until it is ended. Each round does one thing: start, call, or wait.
    func run() {
        var life = Life(state: state)
        while !jobs.isOver(turn) {
            if let deadline = life.restarts.nextDeadline, deadline <= .now {
                for action in life.restarts.handle(.deadlineReached, now: .now) where action == .start { start(&life) }
            } else if let process = life.process, let job = jobs.next(turn) {
                serve(job, process, &life)
            } else {
                sleep(until: life.restarts.nextDeadline, life.process)
                if let death = life.process?.ending() { end(&life, .ended, death.description) }
            }
        }
    }

    private func start(_ life: inout Life) {
        do throws(ScriptFault) {
            life.process = try ScriptProcess(script, host: host, state: life.state, time: .now, cord: cord)
            tell(.runs(script: script.name))
        } catch {
            end(&life, .ended, error.words)
        }
    }

    private func end(_ life: inout Life, _ event: ScriptRestarts.Event, _ why: String) {
        life.process = nil
        guard !jobs.isOver(turn) else { return }
        for case .rest(let rest) in life.restarts.handle(event, now: .now) {
            tell(.ended(script: script.name, why: why, restartsIn: rest))
        }
    }

    private func serve(_ job: ScriptJobs.Job, _ process: ScriptProcess, _ life: inout Life) {
        guard job.state == life.state else {
            life.state = job.state
            jobs.putBack(job, turn)
            return discard(&life)
        }
        do throws(ScriptFault) {
            let outcome = try process.call(job.call, plugs: job.plugs, time: job.time)
            guard jobs.settle(job, outcome, turn), !process.isOver else { return discard(&life) }
            if case .answered(let answer) = outcome, let state = answer.state { life.state = state }
        } catch {
            end(&life, .ended, error.words)
            switch error {
            case .ended(let death) where !death.isItsOwn && !job.isSecondTry:
                var again = job
                again.isSecondTry = true
                jobs.putBack(again, turn)
            case .ended, .refused, .unavailable: _ = jobs.settle(job, .failed(error.words), turn)
            }
        }
    }

    /// The house's copy of the state is the only one that counts. A process with another is of no use: it was changed by a call that was
    /// refused or withdrawn.
    private func discard(_ life: inout Life) {
        end(&life, .discarded, "it remembers a call that was not carried out, and begins again without it")
    }

    /// Until it is woken, the process ends or the deadline is there.
    private func sleep(until deadline: Instant?, _ process: ScriptProcess?) {
        var polled = [
            pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: process?.socket ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let left = deadline.map { ($0 - .now).roundedMilliseconds } ?? -1
        guard poll(&polled, nfds_t(polled.count), left) > 0 else { return }
        if polled[0].revents != 0 { wake.clear() }
    }
}
