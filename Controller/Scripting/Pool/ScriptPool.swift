public import Automation

/// What becomes of a script's process.
public enum ScriptNotice: Hashable, Sendable {
    case runs(script: String)
    case ended(script: String, why: String, restartsIn: Duration?)
}

/// The scripts of a house, each in a process of its own with a thread that waits for it. Calls of one script are made in their order, those
/// of different scripts beside each other. A process that ends is started again (``ScriptRestarts``).
public actor ScriptPool {
    /// For one who reads them; the oldest are left out where nobody does.
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

    /// From now on these run, and no others. One that has not changed goes on as it is; calls of one that has changed are asked of its new
    /// process, also the one under way, of which nothing is done until then; calls of one that is gone fail.
    ///
    /// - Parameter states: what the house keeps of them, JSON by their names.
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
            worker.end(.failed("the script is no more"))
        }
        for script in scripts.dropFirst(ScriptLimits.scripts) {
            let why = "more than \(ScriptLimits.scripts) scripts: put several into one file"
            noticing.yield(.ended(script: script.name, why: why, restartsIn: nil))
        }
        workers = present
    }

    private func start(_ script: Script, state: String?, jobs: ScriptJobs) -> ScriptWorker? {
        let noticing = noticing
        if let worker = ScriptWorker(script, host: host, state: state, jobs: jobs, tell: { noticing.yield($0) }) {
            let isStarted = OwnThread.run { [weak self] in
                worker.run()
                Task { await self?.threadEnded() }
            }
            if isStarted {
                threads += 1
                return worker
            }
        }
        let why = "no thread or descriptor is left for it"
        jobs.close(.failed(why))
        noticing.yield(.ended(script: script.name, why: why, restartsIn: nil))
        return nil
    }

    /// Waits for what the function asks for: behind earlier calls of the same script, and while its process is started again.
    ///
    /// - Parameter state: what the house keeps of the script, JSON. A process that has another one is ended, and the next begins with this.
    /// - Returns: nil where the pool was ended, or the task cancelled, before it was known: then nothing of it has been done.
    public func call(
        _ call: ScriptCall, plugs: [PlugView], state: String?, time: ScriptTime
    ) async -> ScriptOutcome? {
        guard let worker = workers[call.handler.script] else {
            return .failed("no script of the name \(call.handler.script) runs")
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
                // A cancellation in between found nothing to give up.
                if Task.isCancelled { worker.jobs.giveUp(id) }
            }
        } onCancel: {
            worker.jobs.giveUp(id)
        }
    }

    /// Returns when no process is left.
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
