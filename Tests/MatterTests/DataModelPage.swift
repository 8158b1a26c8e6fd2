@testable import Matter

/// The page `Documentation/reference/matter.md`, made from the data model.
enum DataModelPage {
    /// A plug with all features. Others have a part of its clusters.
    private static let model = DataModel(NodeFeatures(dims: true, meters: true, hasButton: true))

    static var text: String {
        """
        # Matter data model

        The device types and clusters of a plug that dims, measures and has a button. A test makes this page from the table that the firmware
        uses, and fails if they differ. A plug that does not dim is an On/Off Plug-in Unit (0x010A) and has no Level Control. Without a meter
        it has no Electrical Sensor, and without a button no endpoint 2.

        ## Device types

        \(deviceTypes)
        ## Clusters

        The plug has every mandatory element of its device types and clusters in Matter 1.3. `Scripts/test matter` verifies this with
        `esp-matter-dm-validator`. `(w)` marks an attribute that a controller can write. In addition, each cluster has the global attributes
        GeneratedCommandList, AcceptedCommandList, AttributeList, FeatureMap and ClusterRevision.

        \(clusters)
        """
    }

    private static var deviceTypes: String {
        table(
            ["endpoint", "device type", "revision", "required clusters"],
            model.endpoints.flatMap { endpoint in
                endpoint.deviceTypes.map { type in
                    let required = endpoint.clusters.filter { type.clusters.contains($0.id) }.map(\.name)
                    let name = "\(type.name) \(hexadecimal(type.id))"
                    return ["\(endpoint.number)", name, "\(type.revision)", list(required)]
                }
            })
    }

    private static var clusters: String {
        table(
            ["endpoint", "cluster", "revision", "features", "mandatory", "optional"],
            model.endpoints.flatMap { endpoint in
                endpoint.clusters.map { cluster in
                    [
                        "\(endpoint.number)", "\(cluster.name) \(hexadecimal(cluster.id.rawValue))",
                        "\(cluster.revision)", list(cluster.features.map(\.code)),
                        elements(cluster, isMandatory: true), elements(cluster, isMandatory: false),
                    ]
                }
            })
    }

    /// The attributes, commands and events of a cluster that are mandatory or optional with its features.
    private static func elements(_ cluster: ClusterRow, isMandatory: Bool) -> String {
        func isListed(_ conformance: Conformance) -> Bool {
            conformance.isMandatory == isMandatory && conformance.applies(to: cluster.featureMap)
        }
        let attributes = cluster.attributes.filter { isListed($0.conformance) }
        let kinds = [
            ("attributes", attributes.map { $0.name + ($0.write == nil ? "" : " (w)") }),
            ("commands", cluster.commands.filter { isListed($0.conformance) }.map(\.definition.name)),
            ("events", cluster.events.filter { isListed($0.conformance) }.map(\.definition.name)),
        ]
        return kinds.filter { !$0.1.isEmpty }.map { "\($0.0): \(list($0.1))" }.joined(separator: "; ")
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    private static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
