import MatterWire

/// Access Control (Matter 9.10).
struct AccessControlServer: ClusterServer {
    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, AccessControl.Attribute.self, or: .unsupportedAttribute) {
        case .acl:
            call.scoped(
                state.records.fabrics.flatMap { fabric in
                    fabric.accessControl.map { (fabric: fabric.index, sensitive: $0.members, open: []) }
                })
        case .accessControlExtension:
            call.scoped(
                state.records.fabrics.compactMap { fabric in
                    fabric.accessExtension.map { (fabric: fabric.index, sensitive: [(1, .bytes($0))], open: []) }
                })
        case .subjectsPerEntry: .unsigned(UInt64(AccessControlEntry.subjectLimit))
        case .targetsPerEntry: .unsigned(UInt64(AccessControlEntry.targetLimit))
        case .entriesPerFabric: .unsigned(UInt64(AccessControlEntry.entryLimit))
        }
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        let fabric = try state.fabric(of: call)
        let items = appends ? [value] : value.elements ?? []
        switch AccessControl.Attribute(rawValue: attribute) {
        case .acl: try writeEntries(items, appends ? fabric.accessControl : [], fabric, call, &state)
        case .accessControlExtension:
            try writeExtension(items, appends ? fabric.accessExtension : nil, fabric, call, &state)
        case .subjectsPerEntry, .targetsPerEntry, .entriesPerFabric, nil:
            throw InteractionStatus(.unsupportedWrite)
        }
    }

    private func writeEntries(
        _ items: [TLVValue], _ kept: [AccessControlEntry], _ fabric: Fabric, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        guard kept.count + items.count <= AccessControlEntry.entryLimit else {
            throw InteractionStatus(.resourceExhausted)
        }
        var entries = kept
        for item in items { entries.append(try AccessControlEntry(item)) }
        let old = fabric.accessControl
        try state.update(call) { fabric throws(InteractionStatus) in fabric.accessControl = entries }
        for place in 0..<max(old.count, entries.count) {
            let before = place < old.count ? old[place] : nil
            let after = place < entries.count ? entries[place] : nil
            guard before != after else { continue }
            let change: AccessChange = before == nil ? .added : after == nil ? .removed : .changed
            state.recordEntryChange(change, after ?? before, fabric: fabric.index, call)
        }
        state.changed(AccessControl.Attribute.acl, of: .accessControl)
        state.effects.add(.notice(.accessControlChanged(fabric: fabric.index)))
    }

    private func writeExtension(
        _ items: [TLVValue], _ kept: [UInt8]?, _ fabric: Fabric, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        // A fabric has at most one extension (Matter 9.10.6.2).
        guard items.count + (kept == nil ? 0 : 1) <= 1 else { throw InteractionStatus(.constraintError) }
        var data = kept
        for item in items {
            let bytes = try item.bytesField(1, 0...Fabric.extensionLimit)
            guard Self.isExtension(bytes) else { throw InteractionStatus(.constraintError) }
            data = bytes
        }
        let old = fabric.accessExtension
        guard old != data else { return }
        try state.update(call) { fabric throws(InteractionStatus) in fabric.accessExtension = data }
        let change: AccessChange = old == nil ? .added : data == nil ? .removed : .changed
        let latest = (data ?? old).map {
            TLVValue.fields((1, .bytes($0)), (TLVValue.fabricIndexTag, .number(fabric.index)))
        }
        state.record(
            AccessControl.Event.extensionChanged, of: .accessControl, change.fields(latest, fabric.index, call),
            fabric: fabric.index, now: call.now)
        state.changed(AccessControl.Attribute.accessControlExtension, of: .accessControl)
    }

    /// Returns true if the bytes are a TLV list whose members have tags of a vendor's profile (Matter 9.10.5.7.1).
    private static func isExtension(_ bytes: [UInt8]) -> Bool {
        guard case .list(let members)? = try? TLVValue(decoding: bytes) else { return false }
        return members.allSatisfy { if case .fullyQualified = $0.tag { true } else { false } }
    }
}
