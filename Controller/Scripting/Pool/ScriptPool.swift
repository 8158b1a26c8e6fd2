public import Automation
import LinuxSystem
public import RuleModel

/// A change of a script's process.
public enum ScriptNotice: Hashable, Sendable {
    /// The process has started.
    case runs(script: String)
    /// The process has ended. It is restarted after `restartsIn`; nil if it is not restarted.
    case ended(script: String, why: String, restartsIn: Duration?)
}

/// The scripts of a house. Each has its own process, and a thread that waits for it. Calls of one script are made in
/// order, those of different scripts concurrently. A process that ends is restarted (``ScriptRestarts``).
public actor ScriptPool {
    /// The notices of all scripts. At most 256 are buffered; if they are not read, the oldest are dropped.
    public nonisolated let notices: AsyncStream<ScriptNotice>
    private let noticing: AsyncStream<ScriptNotice>.Continuation
    private let host: String
    private var workers: [String: ScriptWorker] = [:]
    private var threads = 0
    private var lastJob: UInt64 = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter host: the path of the program that runs scripts (``ScriptHost/path()``).
    public init(host: String) {
        self.host = host
        (notices, noticing) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    deinit {
        for worker in workers.values { worker.end(nil) }
        noticing.finish()
    }

    /// Replaces the scripts. A script with unchanged source keeps its process. Waiting and running calls of a changed
    /// script are made in its new process; no action of a running call has been carried out by then. Calls of a removed
    /// script fail.
    ///
    /// - Parameter states: the stored states as JSON, by the names of the scripts.
    public func replace(_ scripts: [Script], states: [String: String]) {
        var present: [String: ScriptWorker] = [:]
        for script in scripts.prefix(ScriptLimits.scripts) {
            if let worker = workers[script.name], worker.script.source == script.source {
                present[script.name] = worker
                continue
            }
            let old = workers.removeValue(forKey: script.name)
            present[script.name] = start(script, state: states[script.name], jobs: old?.jobs ?? ScriptJobs())
            old?.leave()
        }
        for (name, worker) in workers where present[name] == nil {
            worker.end(.failed("the script was removed"))
        }
        for script in scripts.dropFirst(ScriptLimits.scripts) {
            let why = "more than \(ScriptLimits.scripts) scripts: combine several into one file"
            noticing.yield(.ended(script: script.name, why: why, restartsIn: nil))
        }
        workers = present
    }

    private func start(_ script: Script, state: String?, jobs: ScriptJobs) -> ScriptWorker? {
        let noticing = noticing
        if let worker = ScriptWorker(script, host: host, state: state, jobs: jobs, tell: { noticing.yield($0) }) {
            do {
                try startThread { [weak self] in
                    worker.run()
                    Task { await self?.threadEnded() }
                }
                threads += 1
                return worker
            } catch {}
        }
        let why = "no thread or file descriptor is available"
        jobs.close(.failed(why))
        noticing.yield(.ended(script: script.name, why: why, restartsIn: nil))
        return nil
    }

    /// Calls a function and waits for its answer. The call waits until earlier calls of the same script have been
    /// answered, and until the script's process has been restarted if it has ended.
    ///
    /// - Parameter state: the stored state of the script as JSON. If its process has a different one, the process is
    ///   ended, and the next one starts with this state.
    /// - Returns: nil if the pool was ended or the task was cancelled before the outcome was known; then no part of the
    ///   answer is carried out.
    public func call(
        _ call: ScriptCall, plugs: [PlugView], state: String?, time: ScriptTime
    ) async -> ScriptOutcome? {
        guard let worker = workers[call.handler.script] else {
            return .failed("no script named \(call.handler.script) is running")
        }
        lastJob += 1
        let id = lastJob
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: nil) }
                worker.add(
                    ScriptJobs.Job(id: id, call: call, plugs: plugs, state: state, time: time) {
                        continuation.resume(returning: $0)
                    })
                // If the task was cancelled before the job was added, the handler found no job to withdraw.
                if Task.isCancelled { worker.jobs.giveUp(id) }
            }
        } onCancel: {
            worker.jobs.giveUp(id)
        }
    }

    /// Ends all scripts. Returns when all their processes have ended.
    public func end() async {
        for worker in workers.values { worker.end(nil) }
        workers = [:]
        guard threads > 0 else { return noticing.finish() }
        await withCheckedContinuation { waiting.append($0) }
        noticing.finish()
    }

    private func threadEnded() {
        threads -= 1
        guard threads == 0 else { return }
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
