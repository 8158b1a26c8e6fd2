import Automation
internal import Glibc
import ProtocolCore
import Synchronization

/// A script, its process, and the thread on which both are waited for.
final class ScriptWorker: Sendable {
    let script: Script
    private let host: String
    private let jobs = ScriptJobs()
    private let wake: Wake
    /// What it answered last, which its next process begins with.
    private let kept: Mutex<String?>
    /// Of the process at work, to wake whoever waits for it.
    private let socket = Mutex<CInt?>(nil)
    private let tell: @Sendable (ScriptNotice) -> Void

    /// Nil where no descriptors are left.
    init?(_ script: Script, host: String, state: String?, tell: @escaping @Sendable (ScriptNotice) -> Void) {
        guard let wake = Wake() else { return nil }
        (self.script, self.host, self.wake, self.tell) = (script, host, wake, tell)
        kept = Mutex(state)
    }

    var state: String? { kept.withLock { $0 } }

    func add(_ job: ScriptJobs.Job) {
        jobs.add(job)
        wake.wake()
    }

    func giveUp(_ id: UInt64) { jobs.giveUp(id) }

    /// Its process ends, also in the midst of a call, and then its thread. All that waits is answered with this.
    func end(_ outcome: ScriptOutcome?) {
        jobs.close(outcome)
        socket.withLock { if let socket = $0 { _ = shutdown(socket, CInt(SHUT_RDWR)) } }
        wake.wake()
    }

    // MARK: - On its thread

    /// Until it is ended. Each round does one thing: start, call, or wait.
    func run() {
        var restarts = ScriptRestarts(now: .now)
        var process: ScriptProcess?
        while !jobs.isClosed {
            if let deadline = restarts.nextDeadline, deadline <= .now {
                for action in restarts.handle(.deadlineReached, now: .now) where action == .start {
                    process = start(&restarts)
                }
            } else if let running = process, let job = jobs.next() {
                if !serve(job, running, &restarts) { process = nil }
            } else {
                sleep(until: restarts.nextDeadline, process)
                if let death = process?.ending() {
                    process = nil
                    ended(death.description, &restarts)
                }
            }
        }
        hold(nil)
        process?.end()
    }

    /// So that ``end(_:)`` finds it. It is let go before it is closed.
    private func hold(_ descriptor: CInt?) { socket.withLock { $0 = descriptor } }

    private func start(_ restarts: inout ScriptRestarts) -> ScriptProcess? {
        do throws(ScriptFault) {
            let process = try ScriptProcess(script, host: host, state: state, time: .now)
            hold(process.socket)
            tell(.runs(script: script.name))
            return process
        } catch {
            ended(error.words, &restarts)
            return nil
        }
    }

    private func ended(_ why: String, _ restarts: inout ScriptRestarts) {
        hold(nil)
        guard !jobs.isClosed else { return }
        for case .rest(let rest) in restarts.handle(.ended, now: .now) {
            tell(.ended(script: script.name, why: why, restartsIn: rest))
        }
    }

    /// False where the process is no more.
    private func serve(_ job: ScriptJobs.Job, _ process: ScriptProcess, _ restarts: inout ScriptRestarts) -> Bool {
        do throws(ScriptFault) {
            let outcome = try process.call(job.call, plugs: job.plugs, time: job.time)
            if case .answered(let answer) = outcome, let state = answer.state { kept.withLock { $0 = state } }
            jobs.settle(job, outcome)
            return true
        } catch {
            ended(error.words, &restarts)
            switch error {
            case .ended(let death) where !death.isItsOwn && !job.isSecondTry:
                var again = job
                again.isSecondTry = true
                jobs.putBack(again)
            case .ended, .refused, .unavailable: jobs.settle(job, .failed(error.words))
            }
            return false
        }
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
