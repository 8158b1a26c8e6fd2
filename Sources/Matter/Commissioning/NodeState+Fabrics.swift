import MatterSessions
import MatterWire
import ProtocolCore

extension NodeState {
    /// Records the change of all attributes that list fabrics or their data.
    mutating func fabricsChanged() {
        for attribute in [
            OperationalCredentials.Attribute.nocs, .fabrics, .commissionedFabrics, .trustedRootCertificates,
        ] {
            changed(attribute, of: .operationalCredentials)
        }
        changed(AccessControl.Attribute.acl, of: .accessControl)
        changed(GroupKeyManagement.Attribute.groupKeyMap, of: .groupKeyManagement)
        changed(GroupKeyManagement.Attribute.groupTable, of: .groupKeyManagement)
        changed(ScenesManagement.Attribute.fabricSceneInfo, of: .scenesManagement, on: DataModel.load)
    }

    /// Removes a fabric with all of its data and sessions (Matter 11.18.6.12). Returns nil if it does not exist.
    ///
    /// - Parameter session: the session that still carries the reply.
    @discardableResult
    mutating func removeFabric(_ index: UInt8, except session: SessionID? = nil, now: Instant) -> Fabric? {
        guard let fabric = records.remove(index) else { return nil }
        journal.forget(fabric: index)
        sceneStatus.forget(fabric: index)
        resumptions.removeAll { $0.peer.fabric == index }
        window.forget(fabric: index)
        if failSafe.fabric == index {
            failSafe.disarm()
            breadcrumb = 0
            effects.add(.endCommissioningSessions)
            window.release()
        }
        record(
            BasicInformation.Event.leave, of: .basicInformation, .fields((0, .number(index))), now: now)
        fabricsChanged()
        windowChanged()
        effects.add(.endSessions(fabric: index, except: session))
        effects.add(.announce)
        effects.add(.notice(.fabricRemoved(fabric.summary)))
        effects.store()
        return fabric
    }

    /// Adds the event that an entry of the access control list changed (Matter 9.10.9.1).
    mutating func recordEntryChange(_ change: AccessChange, _ entry: AccessControlEntry?, fabric: UInt8, _ call: Call) {
        record(
            AccessControl.Event.entryChanged, of: .accessControl,
            change.fields(
                entry.map { .members($0.members + [(TLVValue.fabricIndexTag, .number(fabric))]) }, fabric, call),
            fabric: fabric, now: call.now)
    }

    // MARK: Fail-safe

    /// Arms the fail-safe or extends it.
    mutating func armFailSafe(_ length: Duration, fabric: UInt8?, isForCommissioning: Bool, now: Instant) {
        failSafe.arm(length, fabric: fabric, isForCommissioning: isForCommissioning, now: now)
        effects.add(.notice(.failSafeArmed(length)))
    }

    /// Undoes the changes since the fail-safe was armed (Matter 11.10.7.2.2).
    ///
    /// - Parameter session: the session that still carries the reply, if a command ends the fail-safe.
    mutating func expireFailSafe(except session: SessionID? = nil, now: Instant) {
        guard failSafe.isArmed else { return }
        let expired = failSafe
        failSafe.disarm()
        setBreadcrumb(0)
        if let regulation = expired.previousRegulation { set(regulation) }
        switch expired.change {
        case .added(let fabric): removeFabric(fabric, except: session, now: now)
        case .updated(let fabric, let previous):
            records.restore(previous, of: fabric)
            credentialsChanged(of: fabric, except: session)
        case nil: break
        }
        effects.add(.endCommissioningSessions)
        window.release()
        effects.add(.announce)
        effects.add(.notice(.failSafeExpired))
        effects.store()
    }

    /// Keeps the changes since the fail-safe was armed (Matter 11.10.7.6).
    mutating func completeCommissioning(_ fabric: Fabric) {
        failSafe.disarm()
        setBreadcrumb(0)
        effects.store()
        effects.add(.notice(.commissioned(fabric.summary)))
        effects.add(.endCommissioningSessions)
        window.release()
        closeWindow()
    }

    /// Ends sessions and announcements that used previous credentials of a fabric.
    mutating func credentialsChanged(of fabric: UInt8, except session: SessionID?) {
        resumptions.removeAll { $0.peer.fabric == fabric }
        fabricsChanged()
        effects.add(.endSessions(fabric: fabric, except: session))
        effects.add(.announce)
    }

    mutating func setBreadcrumb(_ value: UInt64) {
        guard breadcrumb != value else { return }
        breadcrumb = value
        changed(GeneralCommissioning.Attribute.breadcrumb, of: .generalCommissioning)
    }

    mutating func set(_ regulation: FailSafe.Regulation) {
        records.settings.regulatoryConfig = regulation.config
        records.settings.location = regulation.location
        changed(GeneralCommissioning.Attribute.regulatoryConfig, of: .generalCommissioning)
        changed(BasicInformation.Attribute.location, of: .basicInformation)
        effects.store()
    }

    // MARK: Window

    /// Opens the commissioning window. An open window is replaced.
    mutating func openWindow(
        _ length: Duration, verifier: SpakeVerifier? = nil, discriminator: UInt16? = nil,
        administrator: CommissioningWindow.Administrator? = nil, now: Instant
    ) {
        window.open(
            CommissioningWindow.Opening(
                verifier: verifier ?? configuration.verifier,
                discriminator: discriminator ?? configuration.discriminator, isEnhanced: verifier != nil,
                name: hexadecimal(randomness.bytes(8)), until: now + length, administrator: administrator))
        windowChanged()
        effects.add(.announce)
        effects.add(.notice(.windowOpened(length, isEnhanced: verifier != nil)))
    }

    /// Closes the commissioning window. A PASE session that exists remains.
    mutating func closeWindow() {
        guard window.opening != nil else { return }
        window.close()
        windowChanged()
        effects.add(.announce)
        effects.add(.notice(.windowClosed))
    }

    private mutating func windowChanged() {
        for attribute in AdministratorCommissioning.Attribute.allCases {
            changed(attribute, of: .administratorCommissioning)
        }
    }
}

/// The kind of a change in the events of Access Control (Matter 9.10.5.1).
enum AccessChange: UInt8 {
    case changed = 0
    case added = 1
    case removed = 2

    /// The fields of the event. A PASE session has the passcode id 0 and no node id.
    func fields(_ latest: TLVValue?, _ fabric: UInt8, _ call: Call) -> TLVValue {
        .fields(
            (1, .number(orNull: call.node)), (2, call.node == nil ? .unsigned(0) : .null), (3, .number(rawValue)),
            (4, latest ?? .null), (TLVValue.fabricIndexTag, .number(fabric)))
    }
}
