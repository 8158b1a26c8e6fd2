import MatterWire

/// Descriptor (Matter 9.5). All values are derived from the table.
struct DescriptorServer: ClusterServer {
    private let endpoint: UInt16

    init(endpoint: UInt16) { self.endpoint = endpoint }

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        let own = state.model[endpoint]
        return switch try known(attribute, Descriptor.Attribute.self, or: .unsupportedAttribute) {
        case .deviceTypeList:
            .array((own?.deviceTypes ?? []).map { .fields((0, .number($0.id)), (1, .number($0.revision))) })
        case .serverList: .numbers((own?.clusters ?? []).map(\.id.rawValue))
        case .clientList: .array([])
        case .partsList:
            // The root lists all other endpoints; they have no parts.
            .numbers(endpoint == DataModel.root ? state.model.endpoints.map(\.number).filter { $0 != endpoint } : [])
        }
    }
}

/// A cluster that has only the global attributes: Software Diagnostics and Power Topology.
struct EmptyServer: ClusterServer {}
