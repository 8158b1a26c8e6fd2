/// What a plug said about itself at the start of a session.
public struct PlugDescription: Hashable, Sendable {
    public var id: PlugID
    /// The service instance name that it had at that moment.
    public var name: String
    /// The name that a person gave it; ``name`` has a number behind it while another host has that. The same as ``name`` where its
    /// firmware does not tell.
    public var givenName: String
    /// Those that this version knows.
    public var capabilities: Set<Capability>
    public var firmware: String
    public var boot: BootID
    /// The plug's clock against the controller's.
    public var clock: ClockMapping
    /// Its interfaces when the session began; none where its firmware does not tell.
    public var networks: [PlugNetwork]
    /// The last end of its firmware that was not in order; nil where there was none, or its firmware does not tell.
    public var crash: PlugCrash?
    /// What ``PlugCommand/configure(_:)`` can change, as it stood when the session began; nil where its firmware cannot.
    public var settings: RemoteSettings?
    /// What this controller may do at the plug; nil where its firmware does not tell.
    public var role: Role?
    /// 32 bytes that the plug drew for this connection, for a `KeyAnnouncement`; empty from older firmware.
    public var nonce: [UInt8]

    package init(
        id: PlugID, name: String, givenName: String? = nil, capabilities: Set<Capability>, firmware: String,
        boot: BootID, clock: ClockMapping,
        networks: [PlugNetwork] = [], crash: PlugCrash? = nil, settings: RemoteSettings? = nil,
        role: Role? = nil, nonce: [UInt8] = []
    ) {
        self.id = id
        self.name = name
        self.givenName = givenName ?? name
        self.capabilities = capabilities
        self.firmware = firmware
        self.boot = boot
        self.clock = clock
        self.networks = networks
        self.crash = crash
        self.settings = settings
        self.role = role
        self.nonce = nonce
    }
}
