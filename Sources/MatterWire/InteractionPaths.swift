/// A path to attributes (Matter 10.6.2). A nil id is a wildcard.
public struct AttributePath: Hashable, Sendable {
    /// The endpoint, or nil for all endpoints.
    public var endpoint: UInt16?
    /// The cluster, or nil for all clusters.
    public var cluster: UInt32?
    /// The attribute, or nil for all attributes.
    public var attribute: UInt32?
    /// True if the data is one item that is appended to a list (ListIndex is null).
    public var isListAppend: Bool

    /// Creates a path.
    public init(
        endpoint: UInt16? = nil, cluster: UInt32? = nil, attribute: UInt32? = nil, isListAppend: Bool = false
    ) {
        (self.endpoint, self.cluster, self.attribute) = (endpoint, cluster, attribute)
        self.isListAppend = isListAppend
    }

    init(_ value: TLVValue) throws(MatterError) {
        try value.requireList("AttributePathIB")
        guard try !value.flag(0) else {
            throw .interaction(.invalidAction, "a path has tag compression")
        }
        let index = value[5]
        guard index == nil || index == .null else { throw .interaction(.invalidAction, "a path has a list index") }
        self.init(
            endpoint: try value.optional(2, UInt16.self), cluster: try value.optional(3, UInt32.self),
            attribute: try value.optional(4, UInt32.self), isListAppend: index == .null)
    }

    /// The AttributePathIB.
    var tlv: TLVValue {
        .listed((2, endpoint.tlv), (3, cluster.tlv), (4, attribute.tlv), (5, isListAppend ? .null : nil))
    }
}

/// A path to a command (Matter 10.6.11).
public struct CommandPath: Hashable, Sendable {
    /// The endpoint, or nil in a command to a group.
    public var endpoint: UInt16?
    /// The cluster.
    public var cluster: UInt32
    /// The command.
    public var command: UInt32

    /// Creates a path.
    public init(endpoint: UInt16?, cluster: UInt32, command: UInt32) {
        (self.endpoint, self.cluster, self.command) = (endpoint, cluster, command)
    }

    init(_ value: TLVValue) throws(MatterError) {
        try value.requireList("CommandPathIB")
        self.init(
            endpoint: try value.optional(0, UInt16.self),
            cluster: try value.field(1, UInt32.self, of: "CommandPathIB"),
            command: try value.field(2, UInt32.self, of: "CommandPathIB"))
    }

    /// The CommandPathIB.
    var tlv: TLVValue {
        .listed((0, endpoint.tlv), (1, .unsigned(UInt64(cluster))), (2, .unsigned(UInt64(command))))
    }
}

/// A path to events (Matter 10.6.8). A nil id is a wildcard.
public struct EventPath: Hashable, Sendable {
    /// The endpoint, or nil for all endpoints.
    public var endpoint: UInt16?
    /// The cluster, or nil for all clusters.
    public var cluster: UInt32?
    /// The event, or nil for all events.
    public var event: UInt32?
    /// True if a subscription reports the event without waiting for its maximum interval.
    public var isUrgent: Bool

    /// Creates a path.
    public init(endpoint: UInt16? = nil, cluster: UInt32? = nil, event: UInt32? = nil, isUrgent: Bool = false) {
        (self.endpoint, self.cluster, self.event, self.isUrgent) = (endpoint, cluster, event, isUrgent)
    }

    init(_ value: TLVValue) throws(MatterError) {
        try value.requireList("EventPathIB")
        self.init(
            endpoint: try value.optional(1, UInt16.self), cluster: try value.optional(2, UInt32.self),
            event: try value.optional(3, UInt32.self), isUrgent: try value.flag(4))
    }

    /// The EventPathIB.
    var tlv: TLVValue {
        .listed((1, endpoint.tlv), (2, cluster.tlv), (3, event.tlv), (4, isUrgent.tlvIfTrue))
    }
}

/// The data version of a cluster that the reader already has (Matter 10.6.3). The cluster is omitted from the report
/// if it has this version.
public struct DataVersionFilter: Hashable, Sendable {
    /// The endpoint.
    public var endpoint: UInt16
    /// The cluster.
    public var cluster: UInt32
    /// The data version.
    public var version: UInt32

    /// Creates a filter.
    public init(endpoint: UInt16, cluster: UInt32, version: UInt32) {
        (self.endpoint, self.cluster, self.version) = (endpoint, cluster, version)
    }

    init(_ value: TLVValue) throws(MatterError) {
        let path = try value.field(0, of: "DataVersionFilterIB")
        try path.requireList("ClusterPathIB")
        self.init(
            endpoint: try path.field(1, UInt16.self, of: "ClusterPathIB"),
            cluster: try path.field(2, UInt32.self, of: "ClusterPathIB"),
            version: try value.field(1, UInt32.self, of: "DataVersionFilterIB"))
    }

    /// The DataVersionFilterIB.
    var tlv: TLVValue {
        .fields(
            (0, .listed((1, .unsigned(UInt64(endpoint))), (2, .unsigned(UInt64(cluster))))),
            (1, .unsigned(UInt64(version))))
    }
}
