import Appliance
import NIOCore
import PlugModel
import PlugTransport
import Storage

/// What is written to flash, on a thread of its own: the relay, the light and the meter never wait for a storage. What must
/// not be told before it stands waits for it, and for nothing else.
extension PlugService {
    /// A storage that takes longer has failed as far as anybody who waits is concerned; it is waited for no longer.
    static let flashPatience = TimeAmount.seconds(5)

    func write(_ kind: FlashJob.Kind, _ write: FlashWrite, boundary: SequenceNumber? = nil) {
        jobNumber += 1
        var job = FlashJob(kind: kind, number: jobNumber, write: write, boundary: boundary)
        if kind == .controllers {
            if let identity, !isKeyKept { job.key = (identity, settings.directories.key) }
            hold(for: job)
        }
        // The first is under way. One of each kind may wait behind it, the newest: so a storage that hangs costs no memory.
        if let index = jobs.dropFirst().firstIndex(where: { $0.kind == kind }) {
            jobs.remove(at: index)
        }
        // Events wait for a boundary no longer than for two writes.
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
        // The next before anything is told of this one, which may ask for another write and would begin it too.
        beginWriting()
        if let isKept = outcome.isKeyKept { isKeyKept = isKept }
        let isWritten = outcome.result.map(storage.finish) ?? false
        switch job.kind {
        case .controllers: release(job.number, isKept: isWritten)
        case .state: if !isWritten { handle(.persistFailed) }
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
        lookAround()
    }

    // MARK: Who is paired

    /// From here on nobody is told anything until the list stands in flash.
    private func hold(for job: FlashJob) {
        let wasHeld = held != nil
        held?.patience.cancel()
        let number = job.number
        let patience = loop.scheduleTask(in: Self.flashPatience) { [weak self] in
            guard let self else { return }
            assumeIsolated { service in
                service.logger.error("flash does not answer: who is paired is told without standing there")
                service.release(number, isKept: false)
            }
        }
        held = Held(job: number, patience: patience)
        if !wasHeld { holdConnections(true) }
    }

    private func release(_ number: UInt64, isKept: Bool) {
        // One that comes late was given up before.
        guard let ended = held, ended.job == number else { return }
        ended.patience.cancel()
        held = nil
        let due = heldActions
        heldActions = []
        if !isKept { handle(.keepFailed) }
        perform(due)
        // Unless the list among them is being written now.
        if held == nil { holdConnections(false) }
        tellBroker()
        tellHomeKit()
        lookAround()
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

    /// Gives the plug another setup code. False where flash does not take it; nil where it is not tried.
    func changeCode(_ code: SetupCode) async -> Bool? {
        guard !machine.isStopped, machine.codeInWriting == nil else { return nil }
        handle(.changeCode(code))
        guard machine.codeInWriting == code else { return nil }
        return await withCheckedContinuation { codeWaiters.append($0) }
    }

    /// Sets the plug back; false where flash does not take it, or the plug has ended already.
    func resetFromPanel() async -> Bool {
        guard !machine.isStopped else { return isReset }
        return await withCheckedContinuation { waiter in
            resetWaiters.append(waiter)
            handle(.factoryReset)
        }
    }
}
