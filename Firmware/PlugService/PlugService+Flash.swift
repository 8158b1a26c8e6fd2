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
        var key: FlashJob.Key?
        if kind == .controllers, let identity, !isKeyKept {
            key = FlashJob.Key(identity: identity, file: settings.directories.key)
        }
        let number = flash.add(kind, write, key: key, boundary: boundary)
        let isFirst = flash.jobs.count == 1
        if kind == .controllers { hold(until: number) }
        if isFirst { beginWriting() }
    }

    private func beginWriting() {
        guard let job = flash.jobs.first else { return }
        flashThread.perform({ job.perform() }, on: loop) { [weak self] outcome in
            self?.assumeIsolated { $0.wrote(outcome) }
        }
    }

    private func wrote(_ outcome: FlashJob.Outcome) {
        let job = flash.finish()
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
        case .matter: matter?.assumeIsolated { $0.stored(isWritten) }
        case .wiFi: wiFi?.assumeIsolated { $0.kept(isWritten) }
        case .code:
            handle(isWritten ? .codeKept : .codeNotKept)
            codeWaiters.resume(returning: isWritten)
        }
        resumeShutdownIfIdle()
    }

    // MARK: Paired controllers

    /// Holds all messages until the list of controllers is in flash, its write fails, or ``flashPatience`` is over.
    private func hold(until number: UInt64) {
        let wasHeld = flash.holdsMessages
        let timeout = loop.scheduleTask(in: Self.flashPatience) { [weak self] in
            guard let self else { return }
            assumeIsolated { service in
                service.logger.error("flash does not respond; a change of pairings was reported before it was stored")
                service.release(number, isKept: false)
            }
        }
        flash.holdMessages(until: number, timeout: timeout)
        if !wasHeld { holdConnections(true) }
    }

    private func release(_ number: UInt64, isKept: Bool) {
        guard let due = flash.release(number) else { return }
        if !isKept { handle(.keepFailed) }
        perform(due)
        // Messages stay held if one of these actions wrote a new list.
        if !flash.holdsMessages { holdConnections(false) }
        tellBroker()
        tellHomeKit()
        tellMatter()
        resumeShutdownIfIdle()
    }

    // MARK: Factory reset

    private func orderedReset(_ stands: Bool) {
        if stands, !machine.isStopped {
            isReset = true
            handle(.resetStands)
            whenReset()
        } else if !stands {
            handle(.resetFailed)
        }
        resetWaiters.resume(returning: stands)
    }

    /// Changes the setup code. Returns false if flash cannot be written, or nil if the change was not attempted.
    func changeCode(_ code: SetupCode) async -> Bool? {
        guard !machine.isStopped, machine.codeInWriting == nil else { return nil }
        handle(.server(.changeCode(code)))
        guard machine.codeInWriting == code else { return nil }
        return await withCheckedContinuation { codeWaiters.add($0) }
    }

    /// Resets the plug. Returns false if flash cannot be written or the plug stopped without a reset.
    func resetFromPanel() async -> Bool {
        guard !machine.isStopped else { return isReset }
        return await withCheckedContinuation { waiter in
            resetWaiters.add(waiter)
            handle(.factoryReset)
        }
    }
}
