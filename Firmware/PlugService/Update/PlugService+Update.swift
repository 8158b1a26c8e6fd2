import PlugModel

/// The updates of a plug whose image can install them.
struct PlugUpdates {
    let folder: UpdateFolder
    var reception: UpdateReception
    /// Writes bundles, so that the event loop and the writes of the plug's state do not wait for them.
    var thread = LazyThread()

    init(_ folder: UpdateFolder) {
        self.folder = folder
        reception = UpdateReception(restartsWhenOff: folder.restartsWhenOff)
    }
}

extension PlugService {
    /// Performs an owner's request about updates.
    func manageUpdate(_ order: UpdateRequest, for id: ConnectionID) {
        guard updates != nil else {
            let reason = "the system of this plug cannot be updated over the network; install its package instead"
            return handle(.server(.update(id, .failure(Refusal(.unsupported, reason)))))
        }
        do throws(Refusal) {
            guard let work = try updates?.reception.begin(order, relayOn: machine.state.relayOn) else { return }
            perform(work, for: id)
        } catch {
            handle(.server(.update(id, .failure(error))))
        }
    }

    /// Restarts the plug if a restart waited until the relay is off. Called after every event.
    func restartForUpdateIfOff() {
        guard updates?.reception.restartsWhenOff == true, !machine.isStopped,
            let work = updates?.reception.restart(relayOn: machine.state.relayOn)
        else { return }
        perform(work, for: nil)
    }

    /// - Parameter id: the connection whose request this work is, or nil for a restart that waited.
    private func perform(_ work: UpdateReception.Work, for id: ConnectionID?) {
        guard let folder = updates?.folder else { return }
        switch work {
        case .create(let size): logger.notice("receiving a new system, \(size) bytes")
        case .complete: logger.notice("the new system is complete and will be installed")
        case .restart(atOnce: true): logger.notice("restarting with the new system")
        case .report, .write, .delete, .restart: break
        }
        updates?.thread.perform({ folder.perform(work) }, on: loop) { [weak self] result in
            self?.assumeIsolated { $0.finishUpdateWork(result, for: id) }
        }
    }

    private func finishUpdateWork(_ result: Result<UpdateReport, Refusal>, for id: ConnectionID?) {
        guard let answer = updates?.reception.finish(result) else { return }
        if let id {
            handle(.server(.update(id, answer)))
        } else if case .failure(let refusal) = answer {
            logger.error("the plug does not restart with its new system: \(refusal.detail)")
        }
    }
}
