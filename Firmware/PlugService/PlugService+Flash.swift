import Appliance
import NIOCore
import PlugModel
import PlugTransport
import Storage

/// Writes to flash on a separate thread, so that relay, light and meter never wait for storage. Only messages that
/// depend on a write wait for it.
extension PlugService {
    /// The time that messages wait for a write of the list of controllers. After it, the write counts as failed.
    static let flashPatience = TimeAmount.seconds(5)

    func write(_ kind: FlashJob.Kind, _ write: FlashWrite, boundary: SequenceNumber? = nil) {
        jobNumber += 1
        var job = FlashJob(kind: kind, number: jobNumber, write: write, boundary: boundary)
        if kind == .controllers {
            if let identity, !isKeyKept { job.key = (identity, settings.directories.key) }
            hold(for: job)
        }
        // The first job is in progress. At most one job of each kind waits, the newest, so a storage that hangs uses no
        // more memory.
        if let index = jobs.dropFirst().firstIndex(where: { $0.kind == kind }) {
            jobs.remove(at: index)
        }
        // A boundary is next in the queue, so events wait for at most two writes.
        if kind == .boundary, !jobs.isEmpty { jobs.insert(job, at: 1) } else { jobs.append(job) }
        if jobs.count == 1 { beginWriting() }
    }

    private func beginWriting() {
        guard let job = jobs.first else { return }
        let thread = flashThread ?? WorkThread()
        flashThread = thread
        thread.perform({ job.perform() }, on: loop) { [weak self] outcome in
            self?.assumeIsolated { $0.wrote(outcome) }
        }
    }

    private func wrote(_ outcome: FlashJob.Outcome) {
        let job = jobs.removeFirst()
        // The next write begins before this one is reported, because the report may cause another write.
        beginWriting()
        if let isKept = outcome.isKeyKept { isKeyKept = isKept }
        let isWritten = outcome.result.map(storage.finish) ?? false
        switch job.kind {
        case .controllers: release(job.number, isKept: isWritten)
        case .state: if !isWritten { handle(.appliance(.persistFailed)) }
        case .settings: handle(isWritten ? .settingsKept : .settingsNotKept)
        case .boundary:
            if let boundary = job.boundary { handle(isWritten ? .reserved(boundary) : .reservationFailed) }
        case .reset: orderedReset(isWritten)
        case .audit: handle(isWritten ? .auditKept : .auditNotKept)
        case .homeKit: homeKit?.assumeIsolated { $0.stored(isWritten) }
        case .code:
            handle(isWritten ? .codeKept : .codeNotKept)
            let waiting = codeWaiters
            codeWaiters = []
            for waiter in waiting { waiter.resume(returning: isWritten) }
        }
        resumeShutdownIfIdle()
    }

    // MARK: Paired controllers

    /// Holds all messages until the list of controllers is in flash, its write fails, or ``flashPatience`` is over.
    private func hold(for job: FlashJob) {
        let wasHeld = held != nil
        held?.patience.cancel()
        let number = job.number
        let patience = loop.scheduleTask(in: Self.flashPatience) { [weak self] in
            guard let self else { return }
            assumeIsolated { service in
                service.logger.error("flash does not respond; a change of pairings was reported before it was stored")
                service.release(number, isKept: false)
            }
        }
        held = Held(job: number, patience: patience)
        if !wasHeld { holdConnections(true) }
    }

    private func release(_ number: UInt64, isKept: Bool) {
        // The write ended after its timeout, or a newer list has replaced it.
        guard let ended = held, ended.job == number else { return }
        ended.patience.cancel()
        held = nil
        let due = heldActions
        heldActions = []
        if !isKept { handle(.keepFailed) }
        perform(due)
        // Messages stay held if one of these actions wrote a new list.
        if held == nil { holdConnections(false) }
        tellBroker()
        tellHomeKit()
        resumeShutdownIfIdle()
    }

    // MARK: Factory reset

    private func orderedReset(_ stands: Bool) {
        let waiting = resetWaiters
        resetWaiters = []
        if stands, !machine.isStopped {
            isReset = true
            handle(.resetStands)
            whenReset()
        } else if !stands {
            handle(.resetFailed)
        }
        for waiter in waiting { waiter.resume(returning: stands) }
    }

    /// Changes the setup code. Returns false if flash cannot be written, or nil if the change was not attempted.
    func changeCode(_ code: SetupCode) async -> Bool? {
        guard !machine.isStopped, machine.codeInWriting == nil else { return nil }
        handle(.server(.changeCode(code)))
        guard machine.codeInWriting == code else { return nil }
        return await withCheckedContinuation { codeWaiters.append($0) }
    }

    /// Resets the plug. Returns false if flash cannot be written or the plug stopped without a reset.
    func resetFromPanel() async -> Bool {
        guard !machine.isStopped else { return isReset }
        return await withCheckedContinuation { waiter in
            resetWaiters.append(waiter)
            handle(.factoryReset)
        }
    }
}
