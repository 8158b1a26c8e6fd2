import Checkout
import Foundation
import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

private let combinations = (0..<8).map { NodeFeatures(dims: $0 & 1 != 0, meters: $0 & 2 != 0, hasButton: $0 & 4 != 0) }

@Suite struct NodeModelTests {
    private func fixture(_ features: NodeFeatures) throws -> NodeFixture {
        var fixture = try NodeFixture(features)
        _ = try fixture.commission()
        fixture.node.look(
            PlugValues(
                isOn: true, level: features.dims ? 100 : nil,
                reading: features.meters ? .init(power: 5, voltage: 230_000, current: 20, energy: 9) : nil),
            now: fixture.now)
        return fixture
    }

    @Test("Every attribute of the table can be read and has its type", arguments: combinations)
    func attributesHaveTheirType(features: NodeFeatures) throws {
        let fixture = try fixture(features)
        let session = NodeFixture.session(fabric: 1)
        for endpoint in fixture.node.endpoints {
            for cluster in fixture.node.clusters(on: endpoint) {
                let definition = try #require(fixture.node.definition(of: cluster, on: endpoint))
                for attribute in definition.attributes {
                    let path = ConcretePath(endpoint, cluster, attribute.id)
                    let value = try fixture.node.read(path, for: session, isFabricFiltered: true, now: fixture.now)
                    let row = try #require(DataModel(features).row(of: attribute.id, of: cluster))
                    #expect(row.rejection(of: value, isItem: false) == nil, "\(path) \(attribute.name): \(value)")
                }
            }
        }
    }

    @Test("Every command of the table is answered, also without its fields", arguments: combinations)
    func commandsAreAnswered(features: NodeFeatures) throws {
        let fixture = try fixture(features)
        for endpoint in fixture.node.endpoints {
            for cluster in fixture.node.clusters(on: endpoint) {
                for command in try #require(fixture.node.definition(of: cluster, on: endpoint)).commands {
                    var copy = fixture
                    let path = ConcretePath(endpoint, cluster, command.id)
                    let reply = copy.node.invoke(
                        path, .fields(), for: NodeFixture.session(fabric: 1), now: copy.now)
                    switch reply {
                    case .response(let id, _): #expect(id == command.response, "\(command.name)")
                    case .pending: #expect(command.response == nil, "\(command.name)")
                    case .status(let status): #expect(status.code != .unsupportedCommand, "\(command.name)")
                    }
                }
            }
        }
    }

    @Test("Every endpoint has the clusters that its device types require", arguments: combinations)
    func endpointsHaveTheRequiredClusters(features: NodeFeatures) throws {
        let model = DataModel(features)
        for endpoint in model.endpoints {
            let clusters = Set(endpoint.clusters.map(\.id))
            #expect(clusters.contains(.descriptor))
            for type in endpoint.deviceTypes { #expect(clusters.isSuperset(of: type.clusters), "\(type.name)") }
        }
        #expect((model[DataModel.load]?.definitions[ClusterID.levelControl.rawValue] != nil) == features.dims)
        #expect(model.primaryDeviceType == (features.dims ? 0x010B : 0x010A))
        #expect(model.endpoints.count == (features.hasButton ? 3 : 2))
    }

    @Test("Ids in the table are unique, and every row applies to the features that the plug has")
    func rowsAreConsistent() {
        #expect(Set(DataModel.rows.map(\.id)) == Set(ClusterID.allCases))
        #expect(DataModel.rows.count == ClusterID.allCases.count)
        for row in DataModel.rows {
            #expect(Set(row.attributes.map(\.id)).count == row.attributes.count, "\(row.name)")
            #expect(Set(row.commands.map(\.definition.id)).count == row.commands.count, "\(row.name)")
            let definition = row.definition
            #expect(definition.attributes.count == row.attributes.count + 5, "\(row.name)")
            #expect(definition.commands.count == row.commands.count, "\(row.name)")
            #expect(definition.events.count == row.events.count, "\(row.name)")
        }
    }

    @Test("The global attributes list the supported elements in ascending order")
    func globalAttributes() throws {
        let fixture = try fixture(combinations[7])
        func list(_ attribute: GlobalAttribute) throws -> [UInt64] {
            try #require(
                try fixture.read(.operationalCredentials, attribute).elements
            ).compactMap(\.asUnsigned)
        }
        #expect(try list(.acceptedCommandList) == [0, 2, 4, 6, 7, 9, 10, 11])
        #expect(try list(.generatedCommandList) == [1, 3, 5, 8])
        #expect(try list(.attributeList) == [0, 1, 2, 3, 4, 5, 0xFFF8, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD])
        #expect(try fixture.read(.switchCluster, GlobalAttribute.featureMap, on: 2) == .unsigned(0x1E))
        #expect(try fixture.read(.onOff, GlobalAttribute.clusterRevision, on: 1) == .unsigned(6))
    }

    @Test("The page of the documentation equals the data model. With GOLDEN=write, the page is written")
    func documentation() throws {
        let page = Checkout.place("Documentation/reference/matter.md")
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            try DataModelPage.text.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: page, encoding: .utf8) == DataModelPage.text)
    }

    @Test("Descriptors list device types, clusters and parts")
    func descriptors() throws {
        let fixture = try fixture(combinations[7])
        #expect(try fixture.read(.descriptor, Descriptor.Attribute.partsList) == .numbers([UInt16(1), 2]))
        #expect(try fixture.read(.descriptor, Descriptor.Attribute.partsList, on: 1) == .array([]))
        #expect(
            try fixture.read(.descriptor, Descriptor.Attribute.deviceTypeList, on: 1)
                == .array([
                    .fields((0, .unsigned(0x010B)), (1, .unsigned(4))),
                    .fields((0, .unsigned(0x0510)), (1, .unsigned(1))),
                ]))
        #expect(
            try fixture.read(.descriptor, Descriptor.Attribute.serverList, on: 2)
                == .numbers([UInt32(0x03), 0x1D, 0x3B]))
    }

    @Test("Paths that do not exist, read-only attributes and wrong types are rejected")
    func rejections() throws {
        var fixture = try fixture(combinations[0])
        let session = NodeFixture.session(fabric: 1)
        func read(_ path: ConcretePath) -> InteractionStatusCode? {
            do throws(InteractionStatus) {
                _ = try fixture.node.read(path, for: session, isFabricFiltered: true, now: fixture.now)
                return nil
            } catch { return error.code }
        }
        #expect(read(ConcretePath(9, 6, 0)) == .unsupportedEndpoint)
        #expect(read(ConcretePath(1, 8, 0)) == .unsupportedCluster)
        #expect(read(ConcretePath(1, 6, 99)) == .unsupportedAttribute)
        #expect(fixture.write(.onOff, OnOff.Attribute.onOff, on: 1, .boolean(true), as: session) == .unsupportedWrite)
        #expect(fixture.write(.onOff, OnOff.Attribute.onTime, on: 1, .text("1"), as: session) == .invalidDataType)
        #expect(
            fixture.write(.onOff, OnOff.Attribute.startUpOnOff, on: 1, .unsigned(3), as: session) == .constraintError)
        #expect(fixture.write(.onOff, OnOff.Attribute.onTime, on: 1, .null, as: session) == .invalidDataType)
    }
}
