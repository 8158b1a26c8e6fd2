/// The description that a plug sends at the start of a session.
public struct PlugDescription: Hashable, Sendable {
    /// The id of the plug.
    public var id: PlugID
    /// The service instance name at the start of the session.
    public var name: String
    /// The name that a user gave the plug. While another host uses this name, ``name`` has an additional number. Equal
    /// to ``name`` if the firmware does not send it.
    public var givenName: String
    /// The capabilities that this version knows.
    public var capabilities: Set<Capability>
    /// The firmware version.
    public var firmware: String
    /// The boot that the plug's times belong to.
    public var boot: BootID
    /// The offset between the plug's clock and the controller's.
    public var clock: ClockMapping
    /// The network interfaces at the start of the session. Empty if the firmware does not send them.
    public var networks: [PlugNetwork]
    /// The results of mapping the plug's port at its router at the start of the session. Empty if the plug does not map
    /// its port, or if the firmware does not send them.
    public var reachability: [Reachability]
    /// The registration in a domain at the start of the session. Nil if the plug does not register itself, has no answer
    /// yet, or if the firmware does not send it.
    public var registration: DomainRegistration?
    /// The last crash of the firmware, or nil if the firmware never crashed or does not send it.
    public var crash: PlugCrash?
    /// The settings that ``PlugCommand/configure(_:)`` changes, as of the start of the session. Nil if the firmware
    /// does not support it.
    public var settings: RemoteSettings?
    /// This controller's role at the plug, or nil if the firmware does not send it.
    public var role: Role?
    /// The 32-byte nonce of this connection, which a `KeyAnnouncement` signs. Empty if the firmware does not send it.
    public var nonce: [UInt8]

    /// Creates a description. Without `givenName`, the given name equals `name`.
    package init(
        id: PlugID, name: String, givenName: String? = nil, capabilities: Set<Capability>, firmware: String,
        boot: BootID, clock: ClockMapping,
        networks: [PlugNetwork] = [], reachability: [Reachability] = [], registration: DomainRegistration? = nil,
        crash: PlugCrash? = nil, settings: RemoteSettings? = nil, role: Role? = nil, nonce: [UInt8] = []
    ) {
        self.id = id
        self.name = name
        self.givenName = givenName ?? name
        self.capabilities = capabilities
        self.firmware = firmware
        self.boot = boot
        self.clock = clock
        self.networks = networks
        self.reachability = reachability
        self.registration = registration
        self.crash = crash
        self.settings = settings
        self.role = role
        self.nonce = nonce
    }
}
