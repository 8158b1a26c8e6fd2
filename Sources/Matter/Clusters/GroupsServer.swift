import MatterWire

/// Groups of the load (Matter application clusters 1.3). The group table is in the fabric.
struct GroupsServer: ClusterServer {
    /// NameSupport: group names are supported.
    private static let nameSupport: UInt64 = 1 << 7

    private let endpoint: UInt16

    init(endpoint: UInt16) { self.endpoint = endpoint }

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, Groups.Attribute.self, or: .unsupportedAttribute) {
        case .nameSupport: .unsigned(Self.nameSupport)
        }
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let fabric = try state.fabric(of: call)
        switch try known(command, Groups.Command.self, or: .unsupportedCommand) {
        case .addGroup:
            let group = try fields.field(0, UInt16.self)
            let code = try add(group, fields, call, &state)
            return Self.reply(0x00, code, group)
        case .viewGroup:
            let group = try fields.field(0, UInt16.self)
            let known = fabric.group(group, on: endpoint)
            let code: InteractionStatusCode = group == 0 ? .constraintError : known == nil ? .notFound : .success
            return Self.reply(0x01, code, group, (2, .text(known?.name ?? "")))
        case .getGroupMembership:
            guard let list = fields[0]?.elements else { throw InteractionStatus(.invalidCommand) }
            let wanted = Set(list.compactMap { $0.unsigned(UInt16.self) })
            let groups = fabric.groups.filter { $0.endpoints.contains(endpoint) }.map(\.group)
            let capacity = UInt8(clamping: GroupMembership.limit - fabric.groups.count)
            return .response(
                0x02,
                .fields(
                    (0, .number(capacity)), (1, .numbers(list.isEmpty ? groups : groups.filter(wanted.contains)))))
        case .removeGroup:
            let group = try fields.field(0, UInt16.self)
            guard group > 0 else { return Self.reply(0x03, .constraintError, group) }
            guard fabric.group(group, on: endpoint) != nil else { return Self.reply(0x03, .notFound, group) }
            try leave(call, &state) { $0 == group }
            return Self.reply(0x03, .success, group)
        case .removeAllGroups:
            try leave(call, &state) { _ in true }
            return .status(.success)
        case .addGroupIfIdentifying:
            let group = try fields.field(0, UInt16.self)
            guard let end = state.identification[endpoint], end > call.now else { return .status(.success) }
            return .status(InteractionStatus(try add(group, fields, call, &state)))
        }
    }

    private static func reply(
        _ response: UInt32, _ code: InteractionStatusCode, _ group: UInt16, _ more: (UInt8, TLVValue?)...
    ) -> CommandReply {
        .response(response, .members([(0, .number(code.rawValue)), (1, .number(group))] + more))
    }

    /// Adds the endpoint to a group (Matter application clusters 1.3.7.1). Returns the status for the response.
    private func add(
        _ group: UInt16, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> InteractionStatusCode {
        guard let name = fields[1]?.asText else { throw InteractionStatus(.invalidCommand) }
        guard group > 0, name.utf8.count <= GroupMembership.nameLimit else { return .constraintError }
        let endpoint = endpoint
        let code = try state.update(call) { fabric throws(InteractionStatus) -> InteractionStatusCode in
            // A member needs the group's key to receive messages.
            guard fabric.groupKeyMap.contains(where: { $0.group == group }) else { return .unsupportedAccess }
            if let place = fabric.groups.firstIndex(where: { $0.group == group }) {
                fabric.groups[place].name = name
                if !fabric.groups[place].endpoints.contains(endpoint) {
                    fabric.groups[place].endpoints.append(endpoint)
                }
            } else {
                guard fabric.groups.count < GroupMembership.limit else { return .resourceExhausted }
                fabric.groups.append(GroupMembership(group: group, name: name, endpoints: [endpoint]))
            }
            return .success
        }
        if code == .success { state.changed(GroupKeyManagement.Attribute.groupTable, of: .groupKeyManagement) }
        return code
    }

    private func leave(
        _ call: Call, _ state: inout NodeState, where isLeft: (UInt16) -> Bool
    ) throws(InteractionStatus) {
        try state.update(call) { fabric throws(InteractionStatus) in fabric.leaveGroups(on: endpoint, where: isLeft) }
        if let fabric = call.fabric { state.sceneStatus.forget(fabric: fabric) { group, _ in isLeft(group) } }
        state.changed(GroupKeyManagement.Attribute.groupTable, of: .groupKeyManagement)
        state.changed(ScenesManagement.Attribute.fabricSceneInfo, of: .scenesManagement, on: endpoint)
    }
}
