/// The data model of a plug for the documentation.
public enum MatterDataModel {
    /// A Markdown table of all clusters of a plug with these features.
    public static func table(_ features: NodeFeatures) -> String {
        let rows = DataModel(features).endpoints.flatMap { endpoint in
            endpoint.clusters.map { cluster in
                [
                    "\(endpoint.number)", "\(cluster.name) 0x\(digits(cluster.id.rawValue, 4))", "\(cluster.revision)",
                    cluster.features.map(\.code).joined(separator: ", "), attributes(cluster),
                    names(cluster.commands.map(\.definition.name)), names(cluster.events.map(\.definition.name)),
                ]
            }
        }
        let head = ["endpoint", "cluster", "revision", "features", "attributes", "commands", "events"]
        return ([head, head.map { _ in "---" }] + rows)
            .map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }

    /// A Markdown table of the device types of the endpoints.
    public static func deviceTypes(_ features: NodeFeatures) -> String {
        let rows = DataModel(features).endpoints.flatMap { endpoint in
            endpoint.deviceTypes.map { ["\(endpoint.number)", "\($0.name) 0x\(digits($0.id, 4))", "\($0.revision)"] }
        }
        return ([["endpoint", "device type", "revision"], ["---", "---", "---"]] + rows)
            .map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }

    /// The attributes; those that a controller can write are marked.
    private static func attributes(_ cluster: ClusterRow) -> String {
        names(cluster.attributes.map { $0.write == nil ? $0.name : "\($0.name) (w)" })
    }

    private static func names(_ names: [String]) -> String { names.joined(separator: ", ") }

    private static func digits(_ number: UInt32, _ count: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
