import MatterWire

/// Group Key Management (Matter 11.2).
struct GroupKeyServer: ClusterServer {
    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, GroupKeyManagement.Attribute.self, or: .unsupportedAttribute) {
        case .groupKeyMap:
            call.scoped(
                state.records.fabrics.flatMap { fabric in
                    fabric.groupKeyMap.map { (fabric: fabric.index, sensitive: [], open: $0.members) }
                })
        case .groupTable:
            call.scoped(
                state.records.fabrics.flatMap { fabric in
                    fabric.groups.map { group in
                        (
                            fabric: fabric.index, sensitive: [],
                            open: [
                                (1, .number(group.group)), (2, .numbers(group.endpoints)), (3, .text(group.name)),
                            ]
                        )
                    }
                })
        case .maxGroupsPerFabric: .unsigned(UInt64(GroupMembership.limit))
        case .maxGroupKeysPerFabric: .unsigned(UInt64(GroupKeySet.limit))
        }
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        guard attribute == GroupKeyManagement.Attribute.groupKeyMap.rawValue else {
            throw InteractionStatus(.unsupportedWrite)
        }
        var map = appends ? try state.fabric(of: call).groupKeyMap : []
        for item in appends ? [value] : value.elements ?? [] {
            let mapping = try GroupKeyMapping(item)
            guard !map.contains(where: { $0.group == mapping.group }) else { throw InteractionStatus(.constraintError) }
            guard map.count < GroupMembership.limit else { throw InteractionStatus(.resourceExhausted) }
            map.append(mapping)
        }
        let written = map
        try state.update(call) { fabric throws(InteractionStatus) in fabric.groupKeyMap = written }
        state.changed(GroupKeyManagement.Attribute.groupKeyMap, of: .groupKeyManagement)
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let fabric = try state.fabric(of: call)
        switch try known(command, GroupKeyManagement.Command.self, or: .unsupportedCommand) {
        case .keySetWrite:
            guard let value = fields[0] else { throw InteractionStatus(.invalidCommand) }
            try write(try GroupKeySet(value), call, &state)
            return .status(.success)
        case .keySetRead:
            let id = try fields.field(0, UInt16.self)
            guard let set = fabric.keySets.first(where: { $0.id == id }) else { throw InteractionStatus(.notFound) }
            return .response(0x02, .fields((0, set.publicTLV)))
        case .keySetRemove:
            try remove(try fields.field(0, UInt16.self), call, &state)
            return .status(.success)
        case .keySetReadAllIndices:
            return .response(0x05, .fields((0, .numbers(fabric.keySets.map(\.id)))))
        }
    }

    private func write(_ set: GroupKeySet, _ call: Call, _ state: inout NodeState) throws(InteractionStatus) {
        try state.update(call) { fabric throws(InteractionStatus) in
            if let place = fabric.keySets.firstIndex(where: { $0.id == set.id }) {
                fabric.keySets[place] = set
            } else {
                guard fabric.keySets.count < GroupKeySet.limit else { throw InteractionStatus(.resourceExhausted) }
                fabric.keySets.append(set)
            }
        }
    }

    private func remove(_ id: UInt16, _ call: Call, _ state: inout NodeState) throws(InteractionStatus) {
        guard id != GroupKeySet.identityProtection else { throw InteractionStatus(.invalidCommand) }
        try state.update(call) { fabric throws(InteractionStatus) in
            guard let place = fabric.keySets.firstIndex(where: { $0.id == id }) else {
                throw InteractionStatus(.notFound)
            }
            fabric.keySets.remove(at: place)
            fabric.groupKeyMap.removeAll { $0.keySet == id }
        }
        state.changed(GroupKeyManagement.Attribute.groupKeyMap, of: .groupKeyManagement)
    }
}
