import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport
import Testing

@testable import Matter

/// A plug that is a member of a group.
@Suite struct DeviceGroupTests {
    private static let group: UInt16 = 0x0102
    private static let epochKey = [UInt8](repeating: 0xC1, count: 16)
    private static let sender: UInt64 = 0x77
    private static let on = CommandPath(endpoint: nil, cluster: 6, command: 1)
    private var link: DeviceLink
    private let session: SessionContext
    private let operationalKey: [UInt8]
    private let addresses: Set<[UInt8]>
    private var counter: UInt32 = 50

    init() throws {
        var link = try DeviceLink()
        let (session, fabric) = try link.commission()
        self.session = session
        operationalKey = FabricIdentity.operationalKey(of: Self.epochKey, compressedID: fabric.compressedID)
        addresses = [FabricIdentity.multicastAddress(group: Self.group, fabricID: DeviceLink.fabricID)]
        self.link = link
    }

    private mutating func write(_ cluster: UInt32, _ attribute: UInt32, _ value: TLVValue) throws {
        let path = AttributePath(endpoint: 0, cluster: cluster, attribute: attribute)
        let answer = try link.request(
            .write(WriteRequest(writes: [AttributeData(path: path, value: value)])), session)
        guard case .written(let results) = answer, results.allSatisfy({ $0.status.code == .success }) else {
            throw DeviceLink.LinkError.unexpected(answer)
        }
    }

    /// Gives the plug the key of the group, and makes its load a member.
    private mutating func join() throws {
        let set = TLVValue.fields(
            (0, .unsigned(7)), (1, .unsigned(0)), (2, .bytes(Self.epochKey)), (3, .unsigned(1)))
        _ = try link.invoke(0, ClusterID.groupKeyManagement.rawValue, 0, session, .fields((0, set)))
        let map = TLVValue.fields((1, .number(Self.group)), (2, .unsigned(7)))
        try write(ClusterID.groupKeyManagement.rawValue, 0, .array([map]))
        _ = try link.invoke(
            1, ClusterID.groups.rawValue, 0, session, .fields((0, .number(Self.group)), (1, .text("Hall"))))
    }

    private mutating func permit(_ privilege: Privilege, groups: [UInt16]) throws {
        func entry(_ privilege: Privilege, _ mode: UInt64, _ subjects: TLVValue) -> TLVValue {
            .fields((1, .number(privilege.rawValue)), (2, .unsigned(mode)), (3, subjects), (4, .null))
        }
        let administrator = entry(.administer, 2, .numbers([DeviceLink.controllerNode]))
        try write(
            ClusterID.accessControl.rawValue, 0, .array([administrator, entry(privilege, 3, .numbers(groups))]))
    }

    /// Sends a message to the group, and returns the commands to the plug that follow.
    private mutating func send(_ message: InteractionMessage) throws -> [NodeCommand] {
        counter += 1
        let frame = GroupFrame(
            message, operationalKey: operationalKey, counter: counter, node: Self.sender, group: Self.group)
        return deliver(try frame.sealed(link.cryptography, hasPrivacy: true))
    }

    private mutating func deliver(_ datagram: [UInt8]) -> [NodeCommand] {
        let before = link.commands.count
        link.handle(.received(datagram, from: DeviceLink.controllerPeer))
        return Array(link.commands.dropFirst(before))
    }

    private static func invoke(_ paths: CommandPath..., isTimed: Bool = false) -> InteractionMessage {
        .invoke(
            InvokeRequest(
                suppressesResponse: true, isTimed: isTimed, commands: paths.map { InvokeCommand(path: $0) }))
    }

    @Test("A member performs a command to its group if the access control list permits it")
    mutating func commands() throws {
        #expect(try send(Self.invoke(Self.on)) == [] && link.joined == [])
        try join()
        #expect(link.joined == addresses)
        #expect(try send(Self.invoke(Self.on)) == [], "without an entry, the group has no access")
        try permit(.view, groups: [Self.group])
        #expect(try send(Self.invoke(Self.on)) == [])
        try permit(.operate, groups: [Self.group &+ 1])
        #expect(try send(Self.invoke(Self.on)) == [])
        try permit(.operate, groups: [Self.group])
        #expect(try send(Self.invoke(Self.on)) == [.on(true)])
        #expect(link.askers.last == "1/0000000000000077")
        link.inbox = []
        let frame = GroupFrame(
            Self.invoke(Self.on), operationalKey: operationalKey, counter: counter, node: Self.sender,
            group: Self.group)
        #expect(deliver(try frame.sealed(link.cryptography)) == [], "a repeated message has no effect")
        #expect(link.inbox.isEmpty)
    }

    @Test("Messages that groups cannot receive have no effect and no answer")
    mutating func otherMessages() throws {
        try join()
        try permit(.operate, groups: [Self.group])
        link.inbox = []
        let path = CommandPath(endpoint: 1, cluster: 6, command: 1)
        #expect(try send(Self.invoke(path)) == [], "a group selects the endpoints")
        #expect(try send(Self.invoke(Self.on, isTimed: true)) == [])
        #expect(try send(Self.invoke(CommandPath(endpoint: nil, cluster: 0x28, command: 0))) == [])
        #expect(try send(.read(ReadRequest(attributes: [AttributePath()]))) == [])
        #expect(try send(.timed(milliseconds: 1000)) == [])
        #expect(link.inbox.isEmpty)
        #expect(try send(Self.invoke(Self.on)) == [.on(true)])
    }

    @Test("A member writes an attribute of its group if the access control list permits it")
    mutating func writes() throws {
        func message(_ endpoint: UInt16?, isTimed: Bool = false, hasMore: Bool = false) -> InteractionMessage {
            let path = AttributePath(endpoint: endpoint, cluster: 6, attribute: 0x4001)
            return .write(
                WriteRequest(
                    suppressesResponse: true, isTimed: isTimed,
                    writes: [AttributeData(path: path, value: .unsigned(50))], hasMore: hasMore))
        }
        try join()
        try permit(.view, groups: [Self.group])
        _ = try send(message(nil))
        #expect(try onTime() == 0)
        try permit(.operate, groups: [Self.group])
        for other in [message(1), message(nil, isTimed: true), message(nil, hasMore: true)] { _ = try send(other) }
        #expect(try onTime() == 0)
        link.inbox = []
        _ = try send(message(nil))
        #expect(link.inbox.isEmpty)
        #expect(try onTime() == 50)
    }

    /// Reads the attribute OnTime, in tenths of a second.
    private mutating func onTime() throws -> UInt64? {
        let path = AttributePath(endpoint: 1, cluster: 6, attribute: 0x4001)
        let (reports, _) = try link.reports(.read(ReadRequest(attributes: [path])), session)
        guard case .data(let data) = reports.first?.attributes.first else { return nil }
        return data.value.asUnsigned
    }

    @Test("An endpoint that leaves its group, and a plug without its fabric, no longer receive its messages")
    mutating func leaving() throws {
        try join()
        try permit(.operate, groups: [Self.group])
        _ = try link.invoke(1, ClusterID.groups.rawValue, 3, session, .fields((0, .number(Self.group))))
        #expect(link.joined == [])
        #expect(try send(Self.invoke(Self.on)) == [])
        try join()
        #expect(try send(Self.invoke(Self.on)) == [.on(true)])
        link.handle(.removed(fabric: nil))
        #expect(link.joined == [])
        #expect(try send(Self.invoke(Self.on)) == [])
    }

    @Test("A plug that restarts receives the messages of its groups")
    mutating func restart() throws {
        try join()
        try permit(.operate, groups: [Self.group])
        try link.restart()
        #expect(link.joined == addresses)
        #expect(try send(Self.invoke(Self.on)) == [.on(true)])
    }
}
