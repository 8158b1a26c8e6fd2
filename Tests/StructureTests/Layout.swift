/// The kind of each target, which decides what the target may import, and its content, which Scripts/checks/modules
/// writes into ARCHITECTURE.md. The author of a new target adds a line here.
enum Layout {
    enum Kind: Equatable {
        /// Machines and values: no clock, no socket, no file, no global randomness.
        case pure
        /// Connects machines to the outside, through NIO or a module of kind `system`.
        case shell
        /// May call libc.
        case system
        /// An executable, which only connects modules.
        case program
        /// C code or a C library's headers.
        case foreign
        /// Code that tests share.
        case support
    }

    static let kinds: [String: Kind] = [
        // Monotonic time, the machine protocol, seeded randomness
        "Sources/ProtocolCore": .pure,
        // DNS messages (RFC 1035, 2782), and packets of capture files (pcap)
        "Sources/DNSWire": .pure,
        // Responder, querier, record cache (RFC 6762)
        "Sources/MulticastDNS": .pure,
        // Register, browse, resolve (RFC 6763); `DiscoveryNode` is a complete host
        "Sources/ServiceDiscovery": .pure,
        // Questions to name servers by UDP and TCP, the answers that are kept (RFC 1035, 6891, 7766, 2308), changes that
        // servers push (RFC 8490, 8764, 8765), and signed updates of zones (RFC 2136, 8945, 9664, 9665)
        "Sources/UnicastDNS": .pure,
        // Ports of routers that lead to this host, by PCP, NAT-PMP (RFC 6887, 6886) and UPnP IGD
        "Sources/PortMapping": .pure,
        // Readings, energy counter, compressed sample chunks
        "Sources/Metering": .pure,
        // Ids, events, states, commands and refusals as values; the protocol's constants (`PlugWire`). Most modules
        // import only this part of the protocol, so their compilation does not wait for the generated code
        "Sources/PlugModel": .pure,
        // The `.proto` files (`Scripts/generate` writes their code), frames, event journal, sessions and pairing of
        // both sides; [Protocol.md](Sources/PlugProtocol/Specification/Protocol.md) explains their use
        "Sources/PlugProtocol": .pure,
        // TLS with keys on both sides, dialling, admission of connections (`Admission`)
        "Sources/PlugTransport": .shell,
        // JSON writer and reader without Foundation
        "Sources/JSONText": .pure,
        // MQTT topics and messages, Home Assistant's discovery, and `BrokerMachine`, which tracks what the broker has
        // acknowledged and which requests are carried out; [mqtt.md](Documentation/reference/mqtt.md) is the contract
        "Sources/PlugTopics": .pure,
        // Loads a C library by name on first use
        "Sources/CLibraryLoader": .foreign,
        // HomeKit Accessory Protocol over IP: pairing, encrypted sessions, accessories as data; `HomeKitServer` is the
        // machine. The module does not depend on plugs
        "Sources/HomeKit": .pure,
        "Sources/CGMP": .foreign,
        // Powers and products of large numbers with GMP, for HomeKit's pair-setup
        "Sources/LargeNumbers": .shell,
        // Matter's encodings: TLV, message headers, messages of the interaction model, certificates, setup codes
        "Sources/MatterWire": .pure,
        // Matter's handshakes (PASE, CASE), encrypted sessions, reliable messages and messages to groups; `MessageLayer`
        // is the machine
        "Sources/MatterSessions": .pure,
        // Matter over IP: data model, interactions, commissioning, fabrics; `MatterDevice` is the machine. The module
        // does not depend on plugs
        "Sources/Matter": .pure,
        "Sources/COpenSSL": .foreign,
        // AES-CCM, PBKDF2 and curve points with libcrypto, loaded on first use, for Matter
        "Sources/MatterCryptography": .shell,
        "Sources/CMosquitto": .foreign,
        // A connection by libmosquitto, and its adapter to an event loop
        "Sources/MQTT": .shell,
        // Broker settings that houses (`broker.toml`) and plugs (`[mqtt]`) share
        "Sources/BrokerConfiguration": .shell,
        "Sources/CQREncode": .foreign,
        // QR codes of setup codes
        "Sources/QRCode": .shell,
        "Sources/CPlugTransport": .foreign,
        "Sources/CLinuxSystem": .foreign,
        // Clocks and time zone, threads, files: atomic replace, appends that survive a power cut or a kill, locks,
        // private secrets
        "Sources/LinuxSystem": .system,
        "Sources/CLinuxNetwork": .foreign,
        // Multicast sockets, rtnetlink, /proc tables of ports and groups, timers of an event loop; `Discovery` drives
        // the `DiscoveryNode`, `PacketListener` only receives
        "Sources/LinuxNetwork": .system,
        "Sources/CProcessSetup": .foreign,
        // Resets the state that a program inherits before its `main`: closed descriptors 0 to 2, ignored and blocked
        // signals, timers, the file mode creation mask; parses the arguments of one command without reading all others
        "Sources/ProcessSetup": .shell,
        // toml++ behind one C function, so that the firmware needs no C++ interface and no Foundation
        "Sources/CTOML": .foreign,
        // TOML tables, and every mistake in a file with its lines
        "Sources/ConfigurationFiles": .pure,
        "Sources/CLZMA": .foreign,
        // Recorded appliances, CSV, xz and gzip
        "Sources/Recordings": .shell,
        // Packets of Ethernet, ARP, IPv4, UDP and DHCP; address claim (RFC 5227), link-local selection (RFC 3927), DHCP
        // client (RFC 2131), link-local IPv6 (RFC 7217)
        "Firmware/AddressConfiguration": .pure,
        // Represents sleeping hosts: registrations and their verification, answers to ARP and neighbour discovery,
        // wake-ups; packets of ICMPv6
        "Firmware/SleepProxy": .pure,
        // The sleep proxy of a running plug: its UDP port, its packet socket, its announcement, and the stored sleepers
        "Firmware/SleepProxyService": .shell,
        // Joins Wi-Fi networks with wpa_supplicant (`WiFiMachine`), and the plug's own network for its setup: addresses, names, page
        "Firmware/WiFi": .pure,
        // The socket to wpa_supplicant, and the servers of the plug's own network
        "Firmware/WiFiService": .shell,
        // Decides who manages an interface; an `AddressedInterface` for each that the plug manages
        "Firmware/AddressService": .shell,
        // Button, relay, dimmer, metering; `PlugMachine` adds sessions and the audit log
        "Firmware/Appliance": .pure,
        // Persistent state: small files in flash, the mirror in memory
        "Firmware/Storage": .shell,
        "Firmware/CFirmwareProcess": .foreign,
        // Drops capabilities and installs the seccomp filter; the report of a crash for the next process, and the
        // async-signal-safe handler that writes it
        "Firmware/FirmwareProcess": .system,
        // Interfaces of parts; drivers for chips, relays, lights and dimmers, which receive buses and lines that are
        // already open; simulated parts and loads
        "Firmware/PlugHardware": .shell,
        // Libgpiod 1 and 2 behind one interface, loaded on first use, 2.x preferred
        "Firmware/CGPIOD": .foreign,
        "Firmware/CLinuxDevices": .foreign,
        // GPIO lines, I²C buses, PWM and attribute files; lines that the service manager keeps across a crash
        "Firmware/LinuxDevices": .system,
        // A plug's TOML file as a value, or every mistake in it with its lines
        "Firmware/PlugConfiguration": .shell,
        // A plug's own connection to an MQTT broker
        "Firmware/PlugBroker": .shell,
        // The plug as a HomeKit accessory
        "Firmware/HomeKitDoor": .shell,
        // The plug as a Matter device
        "Firmware/MatterDoor": .shell,
        // The running plug and its panel socket
        "Firmware/PlugService": .shell,
        // The command line of the firmware
        "Firmware/plugd": .program,
        // Holds the id of the plug that a thread handles; a signal handler, which must not allocate, stores it after a
        // crash
        "Controller/CPlugInHand": .foreign,
        // The library for other Swift programs: find, follow, command, fetch; `PlugFollower` (one plug) and
        // `HouseMachine` (all plugs) are the machines
        "Controller/PlugClient": .shell,
        // Registers a host with the best sleep proxy before it sleeps, and takes its records over afterwards
        "Controller/SleepClient": .pure,
        // logind's suspend signals by libsystemd, loaded on first use
        "Controller/CSystemBus": .foreign,
        // Drives the `SleepClient`: `SuspendMonitor` follows logind, `SleepProxyBrowser` finds the proxies
        "Controller/HostSleep": .system,
        // Rules as data, and their descriptions in text
        "Controller/RuleModel": .pure,
        // Static analysis: contradictions, loops, opposite commands to a plug, rules that never fire
        "Controller/RuleChecks": .pure,
        // Runs rules: triggers, conditions, runs and commands (`RuleEngine`)
        "Controller/Automation": .pure,
        // Rules that survive a restart (`DurableRuleEngine`): stored state, repeated commands and effects, trace
        // records
        "Controller/DurableRules": .pure,
        // Parses rules from YAML and writes their JSON Schema, both by one description of the format; errors have
        // positions
        "Controller/RuleFiles": .shell,
        // Local time with daylight saving (`LocalTimeline` converts back to UTC), sunrise and sunset, price and
        // emissions per kWh by time of day and week, budgets per month
        "Controller/HouseCalendar": .pure,
        // Draws series as text or SVG of a given size: lines, stacks, bars, bands, marks, spans
        "Controller/Charting": .pure,
        // Finds cycles of appliances, sample by sample, and learns from earlier ones;
        // [appliance-cycles.md](Documentation/explanation/appliance-cycles.md) has its accuracy
        "Controller/ApplianceSense": .pure,
        // Samples, roll-ups, energy and events of years in one SQLite database
        "Controller/PowerHistory": .shell,
        // Runs the rule engine on recorded history
        "Controller/Backtesting": .shell,
        "Controller/CProcesses": .foreign,
        // Programs in their own session: pipes, time limits, Landlock
        "Controller/Processes": .system,
        // Scripts as processes: requests, answers, rules and actions; restart policy (`ScriptRestarts`); `ScriptPool`
        // has one thread per script
        "Controller/Scripting": .system,
        // One HTTP request over its own connection, with time limits and typed errors
        "Controller/HTTPRequests": .system,
        // Messages to browsers: addresses at push services (`PushEndpoint`), encryption (RFC 8291) and the daemon's key
        // (RFC 8292)
        "Controller/WebPush": .pure,
        // Effects of rules outside of the house: programs, web hooks, notifications; `EffectPolicy` is the policy of
        // `daemon.toml`; `NotificationQueue` is the machine of one receiver
        "Controller/Effects": .system,
        // Size, capabilities, keys, live screens
        "Controller/Terminal": .system,
        // Follows every plug, runs the rules, stores durable state (`RuleStore`); `Recorder` stores reports, and
        // `BackfillPlan` is its machine
        "Controller/Daemon": .shell,
        // `Examination` inspects host, network and plugs; `Diagnosis` turns the results into findings
        "Controller/Doctor": .shell,
        // JSON lines, text lines, the live table, packets and findings
        "Controller/Presentation": .shell,
        // Rule files for an editor: `RuleEditor` lists, checks, backtests and changes them; `OutsideActions` is the policy
        // for actions that leave the house
        "Controller/RuleEditing": .system,
        // Connects the house to an MQTT broker: its updates to the broker, commands from it, and the event journal on
        // disk
        "Controller/Broker": .shell,
        // The source of new systems for plugs, the steps of an update, and the updates of a house by the daemon
        "Controller/SystemUpdates": .shell,
        "Controller/CPostgreSQL": .foreign,
        // A connection by libpq with timeouts; statements with values, rows by binary COPY
        "Controller/PostgreSQL": .shell,
        // Snappy's block format by libsnappy, loaded on first use
        "Controller/CSnappy": .foreign,
        // `history.toml`, `DeliveryMachine`, PostgreSQL schema and views, Prometheus remote write;
        // [history-export.md](Documentation/how-to/history-export.md)
        "Controller/HistoryDelivery": .shell,
        // Many houses: `FleetRights`, `FleetQuery`, and `FleetRequests` to plugs through a broker;
        // [fleet.md](Documentation/how-to/fleet.md)
        "Controller/Fleet": .pure,
        // `fleet.toml`, one connection to a database and one to a broker
        "Controller/FleetService": .shell,
        // The page and the OpenAPI document, compiled into the program
        "Controller/CDashboardPage": .foreign,
        // crypt(3)
        "Controller/CPasswordHash": .foreign,
        // HTTP: `Live` is the state and the event stream, `API` the routes, `Door` authentication and roles
        // (`AccessTable`)
        "Controller/Dashboard": .shell,
        // HTTP to the daemon's local socket, and a parser of its event stream
        "Controller/DaemonClient": .shell,
        // The command line of the controller
        "Controller/plugctl": .program,
        // `plugctl-script`, which runs one script: Lua, its view of the house, and the sandbox
        "Controller/ScriptHost": .program,
        // Rings once for each press of a button; the program of the tutorial in PlugClient's documentation
        "Controller/Examples/Doorbell": .program,
        // Prints the services of a type
        "Controller/Examples/BrowseServices": .program,
        // Writes each event of a plug to a file exactly once
        "Controller/Examples/FollowPlug": .program,
        // The button of one plug toggles another plug; also a separate package
        "Controller/Examples/ButtonTurnsLamp/Sources/ButtonTurnsLamp": .program,
        "Tests/Support/Checkout": .support,
        "Tests/Support/SimulatedLAN": .support,
        "Tests/Support/TestSupport": .support,
        "Tests/Fuzz/FuzzTargets": .support,
        "Tests/MeasureCycles": .program,
        "Tests/Fuzz/Fuzzer": .program,
        "Tests/Interoperability/DecodeMessages": .program,
        "Tests/Benchmarks": .support,
        "Tests/CMallocStatistics": .foreign,
    ]

    /// Libraries that a pure module may import: data structures, the runtime of generated messages, hashes, a parser.
    static let pureLibraries: Set = ["CTOML", "Crypto", "DequeModule", "OrderedCollections", "Swift", "SwiftProtobuf"]
    /// Functions of the C library that every module may import singly (`import func Glibc.sin`).
    static let mathematics: Set = ["acos", "asin", "cos", "exp", "log", "log2", "pow", "sin", "tan"]
    static let cLibraries: Set = ["Glibc", "Musl", "Darwin"]
    /// Modules of the toolchain, which Package.swift does not declare.
    static let toolchain: Set = [
        "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Darwin", "Swift", "Synchronization",
        "Testing",
    ]
    /// Files of the package manager, which belong to no target.
    static let foundByName: Set = [
        "Package.swift", "Controller/Examples/ButtonTurnsLamp/Package.swift",
    ]
    /// The limit of lines of a file of a program.
    static let longestProgramFile = 200

    /// Returns the kind of a target, or nil if the layout does not list it.
    static func kind(of target: Manifest.Target) -> Kind? {
        target.form == .tests ? .support : kinds[target.path]
    }
}
