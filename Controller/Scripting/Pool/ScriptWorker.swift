internal import Glibc
import Processes
import ProtocolCore
import RuleModel

/// A script with its process, and the loop of its thread, which waits for calls and for the end of the process.
final class ScriptWorker: Sendable {
    let script: Script
    let jobs: ScriptJobs
    private let host: String
    private let wake: PollWaker
    private let turn: Int
    /// The state with which the first process starts.
    private let state: String?
    private let cord = HostPipe()
    private let tell: @Sendable (ScriptNotice) -> Void

    /// Begins a turn at the queue, and with it takes over the unfinished calls of the previous worker. Returns nil if
    /// no descriptors are available.
    init?(
        _ script: Script, host: String, state: String?, jobs: ScriptJobs,
        tell: @escaping @Sendable (ScriptNotice) -> Void
    ) {
        guard let wake = PollWaker() else { return nil }
        (self.script, self.host, self.state, self.jobs, self.wake, self.tell) = (script, host, state, jobs, wake, tell)
        turn = jobs.begin()
    }

    func add(_ job: ScriptJobs.Job) {
        jobs.add(job)
        wake.wake()
    }

    /// Completes the running and all waiting calls with the outcome, ends the process, and then the thread.
    func end(_ outcome: ScriptOutcome?) {
        jobs.close(outcome)
        leave()
    }

    /// Ends the process, even during a call, and then the thread, because another worker has its turn.
    func leave() {
        cord.cut()
        wake.wake()
    }

    // MARK: - On the worker's thread

    private struct Life {
        var restarts = ScriptRestarts(now: .now)
        var process: ScriptProcess?
        /// The state of the process, with which the next one starts.
        var state: String?
    }

    /// Runs until the worker's turn is over. Each iteration does one thing: start a process, make a call, or wait.
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

    /// Ends a process whose state differs from the stored one: it was changed by a call that was refused or withdrawn.
    /// The next process starts with the stored state.
    private func discard(_ life: inout Life) {
        end(&life, .discarded, "its state includes a call that was not executed, so it restarts without that call")
    }

    /// Waits until the worker is woken, the process ends or the deadline is reached.
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
