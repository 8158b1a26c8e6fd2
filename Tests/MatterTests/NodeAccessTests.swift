import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

private func entry(
    _ privilege: Privilege, _ subjects: [UInt64] = [], _ targets: [TLVValue] = [], mode: UInt64 = 2
) -> TLVValue {
    .fields(
        (1, .unsigned(UInt64(privilege.rawValue))), (2, .unsigned(mode)),
        (3, subjects.isEmpty ? .null : .numbers(subjects)), (4, targets.isEmpty ? .null : .array(targets)))
}

private func target(cluster: UInt32? = nil, endpoint: UInt16? = nil, deviceType: UInt32? = nil) -> TLVValue {
    .fields((0, .number(orNull: cluster)), (1, .number(orNull: endpoint)), (2, .number(orNull: deviceType)))
}

@Suite struct NodeAccessTests {
    private var fixture: NodeFixture
    private let administrator: Accessor
    private let keepAdministrator = entry(.administer, [NodeFixture.administrator])

    init() throws {
        fixture = try NodeFixture()
        administrator = try fixture.commission()
    }

    private mutating func setEntries(_ entries: TLVValue...) -> InteractionStatusCode {
        fixture.write(
            .accessControl, AccessControl.Attribute.acl, .array([keepAdministrator] + entries), as: administrator)
    }

    private func privilege(
        _ node: UInt64, tags: [UInt32] = [], fabric: UInt8 = 1, on endpoint: UInt16 = 1, _ cluster: ClusterID = .onOff
    ) -> Privilege? {
        fixture.node.privileges(
            of: NodeFixture.session(fabric: fabric, node: node, tags: tags), on: endpoint, cluster: cluster.rawValue)
    }

    @Test("A commissioning session administers everything, and AddNOC's entry only its subject")
    func implicitEntries() {
        #expect(
            fixture.node.privileges(of: NodeFixture.passcodeSession, on: 0, cluster: ClusterID.accessControl.rawValue)
                == .administer)
        #expect(privilege(NodeFixture.administrator) == .administer)
        #expect(privilege(NodeFixture.administrator + 1) == nil)
        #expect(privilege(NodeFixture.administrator, fabric: 2) == nil)
    }

    @Test("The highest privilege of all matching entries applies")
    mutating func highestPrivilege() {
        #expect(setEntries(entry(.view), entry(.operate, [5]), entry(.manage, [5], [target(endpoint: 0)])) == .success)
        #expect(privilege(4) == .view)
        #expect(privilege(5) == .operate)
        #expect(privilege(5, on: 0, .basicInformation) == .manage)
    }

    @Test("Targets limit an entry to endpoints, clusters and device types")
    mutating func targets() {
        let targets = [target(cluster: 6, endpoint: 1), target(deviceType: 0x000F), target(cluster: 0x28)]
        #expect(setEntries(entry(.operate, [5], targets)) == .success)
        #expect(privilege(5, on: 1, .onOff) == .operate)
        #expect(privilege(5, on: 1, .levelControl) == nil)
        #expect(privilege(5, on: 2, .switchCluster) == .operate)
        #expect(privilege(5, on: 0, .basicInformation) == .operate)
        #expect(privilege(5, on: 0, .accessControl) == nil)
    }

    @Test("A tag matches the same identifier with at least the entry's version")
    mutating func authenticatedTags() {
        #expect(setEntries(entry(.operate, [0xFFFF_FFFD_ABCD_0002])) == .success)
        #expect(privilege(5, tags: [0xABCD_0002]) == .operate)
        #expect(privilege(5, tags: [0x1111_0009, 0xABCD_0003]) == .operate)
        #expect(privilege(5, tags: [0xABCD_0001]) == nil)
        #expect(privilege(5, tags: [0xABCE_0002]) == nil)
        #expect(privilege(0xABCD_0002) == nil)
    }

    @Test("An entry for groups does not apply to a node with the same id")
    mutating func groupEntries() {
        #expect(setEntries(entry(.operate, [5], mode: 3)) == .success)
        #expect(privilege(5) == nil)
    }

    @Test(
        "Entries that are not valid are rejected and change nothing",
        arguments: [
            (entry(.view, mode: 1), .constraintError), (entry(.view, mode: 4), .constraintError),
            (entry(.administer, [1], mode: 3), .constraintError), (entry(.view, [0]), .constraintError),
            (entry(.view, [0xFFFF_FFFD_ABCD_0000]), .constraintError),
            (entry(.view, [0x1_0000], mode: 3), .constraintError),
            (entry(.view, [1, 2, 3, 4, 5]), .resourceExhausted), (entry(.view, [], [target()]), .constraintError),
            (entry(.view, [], [target(endpoint: 1, deviceType: 0x10A)]), .constraintError),
            (entry(.view, [], Array(repeating: target(endpoint: 1), count: 4)), .resourceExhausted),
            (.unsigned(1), .invalidDataType), (.fields((1, .unsigned(9)), (2, .unsigned(2))), .constraintError),
        ] as [(TLVValue, InteractionStatusCode)])
    func invalidEntries(entry: TLVValue, code: InteractionStatusCode) throws {
        var fixture = fixture
        let before = try fixture.read(.accessControl, AccessControl.Attribute.acl, as: administrator)
        let status = fixture.write(
            .accessControl, AccessControl.Attribute.acl, .array([keepAdministrator, entry]), as: administrator)
        #expect(status == code)
        #expect(try fixture.read(.accessControl, AccessControl.Attribute.acl, as: administrator) == before)
    }

    @Test("Items are appended up to the limit, and every change is an event for its fabric")
    mutating func appendedItems() {
        let number = fixture.node.events(after: nil).last?.number
        for count in 1..<AccessControlEntry.entryLimit {
            let status = fixture.write(
                .accessControl, AccessControl.Attribute.acl, entry(.view, [UInt64(count)]), appends: true,
                as: administrator)
            #expect(status == .success)
        }
        #expect(
            fixture.write(
                .accessControl, AccessControl.Attribute.acl, entry(.view), appends: true, as: administrator)
                == .resourceExhausted)
        #expect(setEntries() == .success)
        let events = fixture.node.events(after: number)
        #expect(events.map { $0.value[3]?.asUnsigned } == [1, 1, 1, 2, 2, 2])
        #expect(events.allSatisfy { $0.fabric == 1 && $0.value[1]?.asUnsigned == NodeFixture.administrator })
        #expect(fixture.stored?.fabric(1)?.accessControl.count == 1)
    }

    @Test("Other fabrics see neither entries nor their content")
    mutating func fabricSensitiveData() throws {
        let other = try fixture.commission(root: 2)
        #expect(other.fabric == 2)
        let filtered = try fixture.read(.accessControl, AccessControl.Attribute.acl, as: other)
        #expect(filtered.elements?.map { $0[0xFE]?.asUnsigned } == [2])
        let all = try fixture.read(.accessControl, AccessControl.Attribute.acl, as: other, isFabricFiltered: false)
        #expect(all.elements?.first == .fields((0xFE, .unsigned(1))))
        #expect(all.elements?.last?[1] == .unsigned(5))
        let certificates = try fixture.read(
            .operationalCredentials, OperationalCredentials.Attribute.nocs, as: other, isFabricFiltered: false)
        #expect(certificates.elements?.map { $0[1] == nil } == [true, false])
    }

    @Test("An extension is a TLV list with tags of a vendor, one per fabric")
    mutating func extensions() throws {
        let list = TLVValue.list([
            TLVElement(.fullyQualified(vendor: 0xFFF1, profile: 1, tag: 2), .unsigned(3))
        ]).encoded
        func item(_ bytes: [UInt8]) -> TLVValue { .fields((1, .bytes(bytes))) }
        let attribute = AccessControl.Attribute.accessControlExtension
        #expect(fixture.write(.accessControl, attribute, .array([item([1])]), as: administrator) == .constraintError)
        #expect(fixture.write(.accessControl, attribute, .array([item(list)]), as: administrator) == .success)
        #expect(
            fixture.write(.accessControl, attribute, item(list), appends: true, as: administrator) == .constraintError)
        #expect(try fixture.read(.accessControl, attribute, as: administrator).elements?.first?[1] == .bytes(list))
    }
}
