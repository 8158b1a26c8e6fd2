// swift-tools-version: 6.2
import PackageDescription

/// The kind of build, set by Scripts/lib/build.sh: `demo` and `shipped` (the programs), `tests` (all tests and their
/// helpers) or `fuzzer`. Without it, all targets are built with default settings, and packages that depend on this one
/// get no unsafe flags.
let build = Context.environment["SMARTPLUG_BUILD"]

/// The modules to test. With `SMARTPLUG_ONLY=Automation,RuleFiles` only their tests are built, and the modules are not
/// optimized, so that a change compiles quickly.
let only = Context.environment["SMARTPLUG_ONLY"]?.split(separator: ",").map(String.init)

/// Optimizes modules in a test build, because the simulations need it. Libraries of other packages are not optimized.
func optimised(_ name: String) -> [SwiftSetting] {
    build == "tests" && only?.contains(name) != true ? [.unsafeFlags(["-O"])] : []
}

/// Links the Swift runtime statically and strips the programs. Only linker options are used: SwiftPM's own option
/// changes the compile commands, so the tests, which need the dynamic runtime, could not share compiled modules with
/// the demo build. The named libraries are the parts of Foundation, and the runtime's module Synchronization; lld
/// accepts them in any order.
let standalone: [LinkerSetting] =
    build == nil || build == "fuzzer"
    ? []
    : [
        .unsafeFlags([
            "-use-ld=lld", "-static-stdlib", "-Xlinker", "--strip-all", "-l_FoundationICU", "-lCoreFoundation",
            "-l_FoundationCShims", "-l_FoundationCollections", "-lswiftSynchronization",
        ])
    ]

/// The settings of every Swift target in this package. The tools version implies the Swift 6 language mode.
let strict: [SwiftSetting] =
    [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]

func module(
    _ name: String, _ path: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path, exclude: exclude,
        swiftSettings: strict + optimised(name))
}

func program(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path, swiftSettings: strict + optimised(name),
        linkerSettings: standalone)
}

/// Declares a test target. Tests are not optimized: optimizing doubles their compile time and does not make them
/// faster, because they wait for the tested modules.
func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude,
        // Usually Foundation links the math library, but the tests of a few modules may not use Foundation.
        swiftSettings: strict, linkerSettings: [.linkedLibrary("m")])
}

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncAlgorithms = Target.Dependency.product(name: "AsyncAlgorithms", package: "swift-async-algorithms")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
/// SQLite's C interface, for the statements that run most often.
let sqliteCalls = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")

// The comment above a target is its description in the table of ARCHITECTURE.md, which Scripts/lib/module_table writes.
let shared: [Target] = [
    // Monotonic time, the machine protocol, seeded randomness
    module("ProtocolCore", "Sources/ProtocolCore"),
    // DNS messages (RFC 1035, 2782)
    module("DNSWire", "Sources/DNSWire"),
    // Capture files (pcap)
    module("PacketTraces", "Sources/PacketTraces"),
    // Responder, querier, record cache (RFC 6762)
    module("MulticastDNS", "Sources/MulticastDNS", ["ProtocolCore", "DNSWire"]),
    // Register, browse, resolve (RFC 6763); `DiscoveryNode` is a complete host
    module("ServiceDiscovery", "Sources/ServiceDiscovery", ["ProtocolCore", "DNSWire", "MulticastDNS"]),
    // Readings, energy counter, compressed sample chunks
    module("Metering", "Sources/Metering", ["ProtocolCore"]),
    // Ids, events, states, commands and refusals as values; the numbers of the wire (`PlugWire`). Most modules
    // import only this part of the protocol and do not wait for the generated code
    module("PlugModel", "Sources/PlugModel", ["ProtocolCore", "Metering"]),
    // The `.proto` files (`Scripts/generate` writes their code), frames, event journal, sessions and pairing of both
    // sides; [Protocol.md](Sources/PlugProtocol/Protocol.md) explains their use
    module(
        "PlugProtocol", "Sources/PlugProtocol",
        ["PlugModel", "ProtocolCore", "Metering", protobuf, crypto, deque],
        exclude: [
            "smartplug.proto", "description.proto", "pairing.proto", "log.proto", "audit.proto", "homekit.proto",
            "samples.proto",
            "Protocol.md",
        ]),
    // TLS with keys on both sides, dialling, admission of connections (`Admission`)
    module(
        "PlugTransport", "Sources/PlugTransport",
        [
            "ProtocolCore", "PlugModel", "LinuxClocks", "LinuxNetwork", "DurableFiles", "CPlugTransport", nioCore,
            nioPosix, nioSSL, nioTLS, crypto,
        ]),
    // JSON writer and reader without Foundation
    module("JSONText", "Sources/JSONText"),
    // MQTT topics and messages, Home Assistant's discovery, and `BrokerMachine`, which tracks what the broker has
    // acknowledged and which requests are carried out; [mqtt.md](Documentation/reference/mqtt.md) is the contract
    module(
        "PlugTopics", "Sources/PlugTopics", ["JSONText", "Metering", "PlugModel", "ProtocolCore", crypto, deque]),
    // Loads a C library by name on first use
    .target(name: "CLibraryLoader", path: "Sources/CLibraryLoader", linkerSettings: [.linkedLibrary("dl")]),
    // HomeKit Accessory Protocol over IP: pairing, encrypted sessions, accessories as data; `HomeKitServer` is the
    // machine. It does not depend on plugs
    module("HomeKit", "Sources/HomeKit", ["JSONText", "ProtocolCore", crypto]),
    .target(name: "CGMP", dependencies: ["CLibraryLoader"], path: "Sources/CGMP"),
    // Powers and products of large numbers with GMP, for HomeKit's pair-setup
    module("LargeNumbers", "Sources/LargeNumbers", ["CGMP", "HomeKit"]),
    .target(name: "CMosquitto", dependencies: ["CLibraryLoader"], path: "Sources/CMosquitto"),
    // A connection by libmosquitto, and its adapter to an event loop
    module("MQTT", "Sources/MQTT", ["CMosquitto", "LinuxClocks", "PlugTopics", nioCore, nioPosix]),
    // Broker settings that houses (`broker.toml`) and plugs (`[mqtt]`) share
    module(
        "BrokerConfiguration", "Sources/BrokerConfiguration", ["ConfigurationFiles", "DurableFiles", "PlugTopics"]),
    .systemLibrary(name: "CQREncode", path: "Sources/CQREncode", providers: [.apt(["libqrencode-dev"])]),
    // QR codes of setup codes
    module("QRCode", "Sources/QRCode", ["CQREncode"]),
    .target(name: "CPlugTransport", path: "Sources/CPlugTransport"),
    .target(name: "CLinuxClocks", path: "Sources/CLinuxClocks"),
    // Time since boot, civil time, time zone, boot id, suspend detection
    module("LinuxClocks", "Sources/LinuxClocks", ["CLinuxClocks", "ProtocolCore"]),
    .target(name: "CLinuxNetwork", path: "Sources/CLinuxNetwork"),
    // Multicast sockets, rtnetlink, /proc tables of ports and groups, timers of an event loop; `Discovery` drives
    // the `DiscoveryNode`, `PacketListener` only receives
    module(
        "LinuxNetwork", "Sources/LinuxNetwork",
        [
            "LinuxClocks", "ProtocolCore", "DNSWire", "MulticastDNS", "ServiceDiscovery", "CLinuxNetwork", nioCore,
            nioPosix, logging,
        ]),
    // Atomic replace, appends that survive a power cut or a kill, locks, private secrets
    module("DurableFiles", "Sources/DurableFiles"),
    .target(name: "CProcessSetup", path: "Sources/CProcessSetup"),
    // Resets the state that a program inherits before its `main`: closed descriptors 0 to 2, ignored and blocked
    // signals, timers, the file mode creation mask
    module("ProcessSetup", "Sources/ProcessSetup", ["CProcessSetup"]),
    // toml++ behind one C function, so that the firmware needs no C++ interface and no Foundation
    .target(name: "CTOML", path: "Sources/CTOML"),
    // TOML tables, and every mistake in a file with its lines
    module("ConfigurationFiles", "Sources/ConfigurationFiles", ["CTOML", "ProtocolCore"]),
    .systemLibrary(name: "CLZMA", path: "Sources/CLZMA", providers: [.apt(["liblzma-dev"])]),
    // Recorded appliances, CSV, xz and gzip
    module("Recordings", "Sources/Recordings", ["ProtocolCore", "CLZMA"]),
]

let firmware: [Target] = [
    // Ethernet, ARP, UDP in IPv4, DHCP messages
    module("LinkWire", "Firmware/LinkWire", ["DNSWire"]),
    // Address claim (RFC 5227), link-local selection (RFC 3927), DHCP client (RFC 2131), link-local IPv6 (RFC 7217)
    module(
        "AddressConfiguration", "Firmware/AddressConfiguration", ["LinkWire", "DNSWire", "ProtocolCore", crypto]),
    // Decides who manages an interface; an `AddressedInterface` for each that the plug manages
    module(
        "AddressService", "Firmware/AddressService",
        [
            "AddressConfiguration", "LinkWire", "DNSWire", "ProtocolCore", "PlugModel", "LinuxClocks", "LinuxNetwork",
            "DurableFiles", nioCore, logging,
        ]),
    // Button, relay, dimmer, metering; `PlugMachine` adds sessions and the audit log
    module("Appliance", "Firmware/Appliance", ["ProtocolCore", "Metering", "PlugModel", "PlugProtocol", deque]),
    // Persistent state: small files in flash, the mirror in memory
    module("Storage", "Firmware/Storage", ["Appliance", "DurableFiles", "PlugModel", "PlugProtocol", "ProtocolCore"]),
    .target(name: "CPrivileges", path: "Firmware/CPrivileges", linkerSettings: [.linkedLibrary("seccomp")]),
    // Drops capabilities and installs the seccomp filter
    module("Privileges", "Firmware/Privileges", ["CPrivileges"]),
    .target(name: "CCrashReport", path: "Firmware/CCrashReport"),
    // The report of a crash for the next process, and the async-signal-safe handler that writes it
    module("CrashReports", "Firmware/CrashReports", ["CCrashReport", "DurableFiles", "PlugModel", "ProtocolCore"]),
    // Interfaces of parts; drivers for chips, relays, lights and dimmers, which receive buses and lines and open
    // nothing; simulated parts and loads
    module("PlugHardware", "Firmware/PlugHardware", ["ProtocolCore", "Metering", "Recordings"]),
    // Libgpiod 1 and 2 behind one interface, loaded on first use, 2.x preferred
    .target(name: "CGPIOD", path: "Firmware/CGPIOD", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "CLinuxDevices", path: "Firmware/CLinuxDevices"),
    // GPIO lines, I²C buses, PWM and attribute files; lines that the service manager keeps across a crash
    module(
        "LinuxDevices", "Firmware/LinuxDevices", ["CGPIOD", "CLinuxDevices", "PlugHardware", "ProtocolCore"]),
    // A plug's TOML file as a value, or every mistake in it with its lines
    module(
        "PlugConfiguration", "Firmware/PlugConfiguration",
        ["BrokerConfiguration", "ConfigurationFiles", "Appliance", "PlugModel", "ProtocolCore"]),
    // A plug's own connection to an MQTT broker
    module(
        "PlugBroker", "Firmware/PlugBroker",
        [
            "BrokerConfiguration", "DurableFiles", "JSONText", "LinuxClocks", "LinuxNetwork", "MQTT", "PlugModel",
            "PlugProtocol", "PlugTopics", "ProtocolCore", nioCore, nioPosix, logging,
        ]),
    // The plug as a HomeKit accessory
    module(
        "HomeKitDoor", "Firmware/HomeKitDoor",
        [
            "HomeKit", "JSONText", "LargeNumbers", "LinuxClocks", "LinuxNetwork", "Metering", "PlugModel",
            "PlugProtocol", "PlugTransport", "ProtocolCore", nioCore, logging,
        ]),
    // The running plug and its panel socket
    module(
        "PlugService", "Firmware/PlugService",
        [
            "ProtocolCore", "JSONText", "Metering", "PlugModel", "PlugProtocol", "PlugTransport", "ServiceDiscovery",
            "LinuxClocks", "LinuxNetwork", "DurableFiles", "AddressService", "Appliance", "Storage", "CrashReports",
            "BrokerConfiguration", "HomeKit", "HomeKitDoor", "PlugBroker", "PlugHardware",
            "PlugConfiguration", nioCore, nioPosix, logging,
        ]),
    // The command line of the firmware
    program(
        "plugd", "Firmware/plugd",
        [
            "AddressService", "Appliance", "PlugModel", "LinuxClocks", "LinuxNetwork", "PlugService", "PlugHardware",
            "PlugConfiguration", "LinuxDevices", "Recordings", "DurableFiles", "Privileges", "QRCode", "Storage",
            "BrokerConfiguration", "HomeKit", "HomeKitDoor", "LargeNumbers", "MQTT", "ProcessSetup", arguments, signals,
            logging,
        ]),
]

let controller: [Target] = [
    // Holds the id of the plug that a thread handles; a signal handler, which must not allocate, stores it after a
    // crash
    .target(name: "CPlugInHand", path: "Controller/CPlugInHand"),
    // The library for other Swift programs: find, follow, command, fetch; `PlugFollower` is the machine
    module(
        "PlugClient", "Controller/PlugClient",
        [
            "ProtocolCore", "Metering", "PlugModel", "PlugProtocol", "PlugTransport", "DNSWire", "ServiceDiscovery",
            "LinuxClocks", "LinuxNetwork", "DurableFiles", "CPlugInHand", nioCore, nioPosix, logging, asyncAlgorithms,
        ]),
    // `Model`: rules as data; `Engine`: runs them; `House`: durable state; `Check`: static analysis; `Past`: trace
    // records
    module("Automation", "Controller/Automation", ["ProtocolCore", "PlugModel", "ApplianceSense", "LocalCalendar"]),
    // YAML to rules, errors with places, and the JSON Schema, from one description
    module(
        "RuleFiles", "Controller/RuleFiles",
        ["ProtocolCore", "PlugModel", "ApplianceSense", "Automation", .product(name: "Yams", package: "Yams")]),
    // Hours, days and months in local time with daylight saving; `LocalTimeline` converts back to UTC
    module("LocalCalendar", "Controller/LocalCalendar"),
    // Price and emissions per kWh, by time of day and week
    module("Tariffs", "Controller/Tariffs", ["LocalCalendar", "ConfigurationFiles"]),
    // Series and size to text or SVG: lines, stacks, bars, bands, marks, spans
    module("Charting", "Controller/Charting", ["LocalCalendar"]),
    .target(name: "CRSVG", path: "Controller/CRSVG", linkerSettings: [.linkedLibrary("dl")]),
    // SVG to PNG by librsvg, loaded on first use
    module("Pictures", "Controller/Pictures", ["CRSVG"]),
    // Finds cycles of appliances, sample by sample, and learns from earlier ones;
    // [appliance-cycles.md](Documentation/explanation/appliance-cycles.md) has its accuracy
    module("ApplianceSense", "Controller/ApplianceSense"),
    // Samples, roll-ups, energy and events of years in one SQLite database
    module(
        "PowerHistory", "Controller/PowerHistory",
        ["ProtocolCore", "Metering", "PlugModel", "LocalCalendar", "Recordings", "DurableFiles", sqlite, sqliteCalls]),
    // Sunrise and sunset at a place, and the file that names it
    module("Daylight", "Controller/Daylight", ["Automation", "ProtocolCore", "LocalCalendar", "ConfigurationFiles"]),
    // Runs the rule engine on recorded history
    module(
        "Backtesting", "Controller/Backtesting",
        ["Automation", "PowerHistory", "ProtocolCore", "PlugModel", "Metering", "LocalCalendar"]),
    .target(name: "CScripting", path: "Controller/CScripting"),
    // Scripts as processes: requests, answers, rules and actions; restart policy (`ScriptRestarts`); `ScriptPool`
    // has one thread per script
    module(
        "Scripting", "Controller/Scripting",
        [
            "CScripting", "RuleFiles", "Automation", "Backtesting", "JSONText", "PlugModel", "ProtocolCore",
            "LinuxClocks",
        ]),
    .target(name: "CEffects", path: "Controller/CEffects"),
    // Programs in their own session behind Landlock, web hooks, notifications; `Outside` is the policy of
    // `daemon.toml`; `NotificationQueue` is the machine of one receiver; sd-bus for desktop notifications
    module(
        "Effects", "Controller/Effects",
        [
            "CEffects", "Automation", "PlugModel", "ProtocolCore", "LinuxClocks", "ConfigurationFiles", "DurableFiles",
            nioCore, nioPosix, nioHTTP, nioSSL,
        ]),
    // Size, capabilities, keys, live screens
    module("Terminal", "Controller/Terminal", ["Charting"]),
    // Follows every plug, runs the rules, stores durable state (`RuleStore`); `Recorder` stores reports, and
    // `BackfillPlan` is its machine
    module(
        "Daemon", "Controller/Daemon",
        [
            "ProtocolCore", "Metering", "PlugModel", "PlugClient", "Automation", "PowerHistory", "LinuxClocks",
            "LinuxNetwork", "DurableFiles", "Scripting", nioCore, nioPosix, asyncAlgorithms, crypto,
        ]),
    // `Examination` inspects host, network and plugs; `Diagnosis` turns the results into findings
    module(
        "Doctor", "Controller/Doctor",
        [
            "ProtocolCore", "DNSWire", "ServiceDiscovery", "LinuxClocks", "LinuxNetwork", "PlugModel", "PlugClient",
            nioCore, logging,
        ]),
    // JSON lines, text lines, the live table, packets and findings
    module(
        "Presentation", "Controller/Presentation",
        [
            "ProtocolCore", "DNSWire", "MulticastDNS", "ServiceDiscovery", "PacketTraces", "LinuxClocks",
            "LinuxNetwork", "Metering", "PlugModel", "PlugProtocol", "PlugClient", "PowerHistory", "ApplianceSense",
            "Automation", "Daemon", "Doctor", "Fleet", "LocalCalendar", "Tariffs", "Charting", "Terminal",
        ]),
    // The house at an MQTT broker: the event journal on disk, and the door next to rules, history and page
    module(
        "Broker", "Controller/Broker",
        [
            "Automation", "BrokerConfiguration", "Daemon", "DurableFiles", "JSONText", "LinuxClocks", "LinuxNetwork",
            "MQTT", "PlugClient", "PlugModel", "PlugTopics", "ProtocolCore", nioCore, nioPosix, sqlite,
        ]),
    .target(name: "CPostgreSQL", dependencies: ["CLibraryLoader"], path: "Controller/CPostgreSQL"),
    // A connection by libpq with timeouts; statements with values, rows by binary COPY
    module("PostgreSQL", "Controller/PostgreSQL", ["CPostgreSQL", "ConfigurationFiles", "DurableFiles"]),
    // Snappy's block format by libsnappy, loaded on first use
    .target(name: "CSnappy", path: "Controller/CSnappy", linkerSettings: [.linkedLibrary("dl")]),
    // `history.toml`, `DeliveryMachine`, PostgreSQL schema and views, Prometheus remote write;
    // [history-export.md](Documentation/how-to/history-export.md)
    module(
        "HistoryDelivery", "Controller/HistoryDelivery",
        [
            "Automation", "ConfigurationFiles", "CSnappy", "Daemon", "DurableFiles", "Effects", "JSONText",
            "LinuxClocks",
            "Metering", "PlugClient", "PlugModel", "PlugTopics", "PostgreSQL", "PowerHistory", "ProtocolCore", nioPosix,
            protobuf,
        ], exclude: ["RemoteWrite/remote_write.proto"]),
    // Many houses: `FleetRights`, `FleetQuery`, and `FleetRequests` to plugs through a broker;
    // [fleet.md](Documentation/how-to/fleet.md)
    module("Fleet", "Controller/Fleet", ["JSONText", "PlugModel", "PlugTopics", "ProtocolCore", deque]),
    // `fleet.toml`, one connection to a database and one to a broker
    module(
        "FleetService", "Controller/FleetService",
        [
            "BrokerConfiguration", "ConfigurationFiles", "DurableFiles", "Fleet", "LinuxClocks", "LinuxNetwork", "MQTT",
            "PlugTopics", "PostgreSQL", "ProtocolCore", nioCore, nioPosix,
        ]),
    // The page and the OpenAPI document, compiled into the program
    .target(name: "CDashboardPage", path: "Controller/CDashboardPage", exclude: ["api", "page"]),
    // crypt(3)
    .target(name: "CPasswordHash", path: "Controller/CPasswordHash", linkerSettings: [.linkedLibrary("crypt")]),
    // HTTP: `Live` is the state and the event stream, `API` the routes, `Door` authentication and roles
    // (`AccessTable`)
    module(
        "Dashboard", "Controller/Dashboard",
        [
            "ProtocolCore", "Metering", "PlugModel", "PlugProtocol", "PlugTransport", "PlugClient", "PowerHistory",
            "Automation", "LocalCalendar", "Tariffs", "Charting", "Daemon", "Fleet", "FleetService", "Presentation",
            "LinuxClocks", "DurableFiles", "CDashboardPage", "CPasswordHash", nioCore, nioPosix, nioHTTP, nioSSL,
            logging, crypto,
            deque, hummingbird, hummingbirdCore, hummingbirdTLS, httpTypes,
        ]),
    // HTTP to the daemon's local socket, and a parser of its event stream
    module("DaemonClient", "Controller/DaemonClient", ["DurableFiles", nioCore, nioPosix, nioHTTP]),
    // The command line of the controller
    program(
        "plugctl", "Controller/plugctl",
        [
            "PlugModel", "PlugProtocol", "PlugTransport", "LinuxClocks", "LinuxNetwork", "ServiceDiscovery",
            "PlugClient", "PowerHistory", "Recordings", "Broker", "BrokerConfiguration", "Daemon", "DaemonClient",
            "Dashboard", "Doctor", "Fleet", "FleetService", "HistoryDelivery", "Presentation",
            "RuleFiles", "Automation", "Backtesting", "LocalCalendar", "Tariffs", "ConfigurationFiles", "Charting",
            "Pictures", "Terminal", "DurableFiles", "Daylight", "Effects", "ProcessSetup", "ProtocolCore",
            "QRCode", "Scripting", arguments, signals, logging,
        ]),
    // `plugctl-script`, which runs one script: Lua, its view of the house, and the sandbox
    .executableTarget(
        name: "ScriptHost", path: "Controller/ScriptHost", exclude: ["prelude"],
        linkerSettings: standalone + [
            .linkedLibrary("lua5.4"), .linkedLibrary("lua5.4-cjson"), .linkedLibrary("seccomp"),
            // Excludes the startup code, because the program does not start Swift's runtime.
            .unsafeFlags(["-nostartfiles"]),
        ]),
]

let examples: [Target] = [
    // Rings once for each press of a button; the program of the tutorial in PlugClient's documentation
    program("Doorbell", "Controller/Examples/Doorbell", ["PlugClient", "PlugTransport", "PlugModel", logging]),
    // Prints the services of a type
    program("BrowseServices", "Controller/Examples/BrowseServices", ["LinuxNetwork", "ServiceDiscovery"]),
    // Writes each event of a plug to a file exactly once
    program(
        "FollowPlug", "Controller/Examples/FollowPlug",
        ["PlugClient", "PlugTransport", "PlugModel", "DurableFiles", logging]),
    // The button of one plug toggles another plug; also a separate package
    program(
        "ButtonTurnsLamp", "Controller/Examples/ButtonTurnsLamp/Sources/ButtonTurnsLamp",
        ["PlugClient", "PlugTransport", "PlugModel", "PlugProtocol", logging]),
]

let supports: [Target] = [
    module("SimulatedLAN", "Tests/Support/SimulatedLAN", ["ProtocolCore", "PacketTraces"]),
    module("SimulatedDisk", "Tests/Support/SimulatedDisk", ["DurableFiles", "ProtocolCore"]),
    module("TestFolders", "Tests/Support/TestFolders"),
    module("MadeUpKeys", "Tests/Support/MadeUpKeys", ["PlugModel", "PlugProtocol"]),
    module("PrivateNetworks", "Tests/Support/PrivateNetworks", ["LinuxNetwork", nioCore, nioPosix]),
    module("SimulatedAppliances", "Tests/Support/SimulatedAppliances", ["ApplianceSense", "ProtocolCore"]),
    module("Fuzzing", "Tests/Support/Fuzzing", ["ProtocolCore"]),
    module(
        "SimulatedHomeKit", "Tests/Support/SimulatedHomeKit", ["HomeKit", "LargeNumbers", "ProtocolCore", crypto]),
    module("RegisterModels", "Tests/Support/RegisterModels", ["PlugHardware", "ProtocolCore"]),
    module(
        "FuzzTargets", "Tests/Fuzz/FuzzTargets",
        [
            "ProtocolCore", "PlugModel", "PlugProtocol", "Metering", "DNSWire", "MulticastDNS", "ServiceDiscovery",
            "LinuxNetwork", "PlugService", "PlugClient", "Storage", "Recordings", "RuleFiles", "Appliance",
            "Automation", "MadeUpKeys", "LinkWire", "AddressConfiguration", "PlugConfiguration", "PowerHistory",
            "ConfigurationFiles", "Tariffs", "Scripting", "LinuxClocks", "Presentation", "Daemon", "Dashboard",
            "PlugBroker", "PlugTopics", "DurableFiles", "HomeKit", "SimulatedDisk", "SimulatedHomeKit", "TestFolders",
            crypto, nioCore, nioPosix,
        ]),
]

let checks: [Target] = [
    program("MeasureCycles", "Tests/MeasureCycles", ["Recordings", "SimulatedAppliances"]),
    program("DecodeMessages", "Tests/Interoperability/DecodeMessages", ["DNSWire"]),
    tests("FuzzTests", ["FuzzTargets", "Fuzzing", "ProtocolCore"]),
    tests("ProtocolCoreTests", ["ProtocolCore"]),
    tests("DNSWireTests", ["DNSWire"]),
    tests("PacketTracesTests", ["PacketTraces"]),
    tests("MulticastDNSTests", ["Fuzzing", "MulticastDNS", "DNSWire", "ProtocolCore"]),
    tests("ServiceDiscoveryTests", ["ServiceDiscovery", "MulticastDNS", "DNSWire", "ProtocolCore"]),
    tests("SimulatedLANTests", ["SimulatedLAN", "ProtocolCore", "TestFolders"]),
    tests("MeteringTests", ["Metering", "ProtocolCore"]),
    tests("QRCodeTests", ["QRCode"]),
    tests("RecordingsTests", ["Recordings", "Metering", "ProtocolCore"]),
    tests("BrokerTests", ["Broker", "PlugModel", "PlugTopics", "TestFolders"]),
    tests(
        "PlugBrokerTests",
        ["PlugBroker", "LinuxClocks", "Metering", "PlugModel", "PlugProtocol", "PlugTopics", "ProtocolCore"]),
    tests(
        "HomeKitDoorTests",
        [
            "HomeKit", "HomeKitDoor", "LargeNumbers", "Metering", "PlugModel", "PlugProtocol", "ProtocolCore",
            "SimulatedHomeKit",
        ]),
    tests("BrokerConfigurationTests", ["BrokerConfiguration", "ConfigurationFiles"]),
    tests("PostgreSQLTests", ["ConfigurationFiles", "DurableFiles", "PostgreSQL", "TestFolders"]),
    tests(
        "HistoryDeliveryTests",
        [
            "ConfigurationFiles", "DurableFiles", "HistoryDelivery", "Metering", "PlugModel", "PostgreSQL",
            "PowerHistory",
            "ProtocolCore", "TestFolders", protobuf,
        ]),
    tests(
        "FleetTests",
        ["ConfigurationFiles", "Fleet", "FleetService", "PlugModel", "PlugTopics", "ProtocolCore"]),
    tests("JSONTextTests", ["JSONText"]),
    tests("LargeNumbersTests", ["HomeKit", "LargeNumbers"]),
    tests("HomeKitTests", ["Fuzzing", "HomeKit", "LargeNumbers", "ProtocolCore", "SimulatedHomeKit"]),
    tests("PlugTopicsTests", ["JSONText", "Metering", "PlugModel", "PlugTopics", "ProtocolCore"]),
    tests("PlugModelTests", ["Fuzzing", "PlugModel", "ProtocolCore"]),
    tests("PlugProtocolTests", ["PlugModel", "PlugProtocol", "ProtocolCore", "Metering", protobuf, crypto]),
    tests(
        "PlugTransportTests",
        [
            "Fuzzing", "PlugTransport", "PlugModel", "ProtocolCore", "DurableFiles", nioCore, nioPosix, nioEmbedded,
            nioSSL, "TestFolders",
        ]),
    tests(
        "LinuxNetworkTests",
        [
            "PrivateNetworks", "LinuxClocks", "LinuxNetwork", "ServiceDiscovery", "MulticastDNS", "DNSWire",
            "ProtocolCore", nioCore, nioEmbedded, logging, "TestFolders",
        ]),
    tests("LinuxClocksTests", ["LinuxClocks", "ProtocolCore"]),
    tests("DurableFilesTests", ["SimulatedDisk", "DurableFiles", "TestFolders"]),
    tests(
        "ApplianceTests",
        ["MadeUpKeys", "Appliance", "PlugModel", "PlugProtocol", "Metering", "ProtocolCore", crypto]),
    tests(
        "StorageTests",
        [
            "MadeUpKeys", "SimulatedDisk", "Storage", "Appliance", "DurableFiles", "PlugModel", "PlugProtocol",
            "Metering", "ProtocolCore", "TestFolders",
        ]),
    tests("CrashReportsTests", ["SimulatedDisk", "CrashReports", "DurableFiles", "PlugModel", "ProtocolCore"]),
    tests("LinkWireTests", ["Fuzzing", "LinkWire", "DNSWire"]),
    tests("AddressConfigurationTests", ["AddressConfiguration", "LinkWire", "DNSWire", "ProtocolCore"]),
    tests(
        "AddressServiceTests",
        [
            "PrivateNetworks", "AddressService", "AddressConfiguration", "LinkWire", "DNSWire", "LinuxNetwork",
            "PlugModel", nioCore, logging, "TestFolders",
        ]),
    tests("LinuxDevicesTests", ["CGPIOD", "LinuxDevices", "PlugHardware", "ProtocolCore", "TestFolders"]),
    tests(
        "PlugHardwareTests",
        ["Fuzzing", "RegisterModels", "PlugHardware", "Metering", "ProtocolCore", "Recordings"]),
    tests(
        "PlugServiceTests",
        [
            "PlugService", "PlugHardware", "PlugModel", "PlugProtocol", "PlugTransport", "Appliance", "Storage",
            "ProtocolCore", "Metering", "DurableFiles", "LinuxClocks", nioCore, nioPosix, logging, "TestFolders",
        ]),
    tests(
        "PlugClientTests",
        [
            "Fuzzing", "MadeUpKeys", "PlugClient", "PlugService", "PlugHardware", "Storage", "Appliance", "Metering",
            "PlugModel", "PlugProtocol", "PlugTransport", "ProtocolCore", "ServiceDiscovery", "LinuxClocks",
            "DurableFiles", nioCore, nioPosix, logging, "TestFolders",
        ]),
    tests("AutomationTests", ["Automation", "ProtocolCore", "PlugModel", "Metering"]),
    tests(
        "RuleFilesTests",
        ["RuleFiles", "Automation", "PlugModel", "ProtocolCore", .product(name: "Yams", package: "Yams")]),
    tests("ExampleTests", ["RuleFiles", "Automation", "SimulatedAppliances", "Metering", "PlugModel", "ProtocolCore"]),
    tests("LocalCalendarTests", ["LocalCalendar"]),
    tests("TariffsTests", ["Tariffs", "ConfigurationFiles", "LocalCalendar"]),
    tests("ChartingTests", ["Charting", "LocalCalendar"], exclude: ["Golden"]),
    tests("PicturesTests", ["Pictures"]),
    tests("ApplianceSenseTests", ["SimulatedAppliances", "ApplianceSense", "Recordings", "ProtocolCore"]),
    tests(
        "PowerHistoryTests",
        [
            "PowerHistory", "LocalCalendar", "Metering", "PlugModel", "ProtocolCore", "DurableFiles", "Recordings",
            sqlite,
            "TestFolders",
        ]),
    tests("TerminalTests", ["Terminal"]),
    tests(
        "ScriptingTests",
        ["Scripting", "Automation", "LinuxClocks", "PlugModel", "ProtocolCore", "RuleFiles", "TestFolders"],
        exclude: ["stand-in.py"]),
    tests("DaylightTests", ["Daylight", "Automation", "ProtocolCore", "LocalCalendar", "ConfigurationFiles"]),
    tests(
        "EffectsTests",
        [
            "Effects", "Automation", "PlugModel", "ProtocolCore", "LinuxClocks", "ConfigurationFiles", "DurableFiles",
            nioCore, nioPosix, "TestFolders",
        ]),
    tests(
        "BacktestingTests",
        ["Backtesting", "Automation", "PowerHistory", "PlugModel", "Metering", "ProtocolCore", "TestFolders"]),
    tests(
        "DaemonTests",
        [
            "Daemon", "Fuzzing", "Automation", "PlugClient", "PlugModel", "ProtocolCore", "Metering", "LinuxClocks",
            "PowerHistory", "DurableFiles", "Scripting", nioCore, nioPosix, asyncAlgorithms, "TestFolders",
        ]),
    tests(
        "DashboardTests",
        [
            "Dashboard", "Daemon", "Fleet", "FleetService", "Presentation", "PlugClient", "PlugModel", "ProtocolCore",
            "PowerHistory", "Automation", "LinuxClocks", "Metering", "Fuzzing", nioCore, nioPosix, logging, httpTypes,
            "TestFolders",
            "DurableFiles",
        ]),
    tests("DaemonClientTests", ["DaemonClient", nioCore, nioPosix, "TestFolders"]),
    tests("DoctorTests", ["Doctor", "DNSWire", "LinuxClocks", "LinuxNetwork", "PlugModel", "ProtocolCore"]),
    tests(
        "PresentationTests",
        [
            "Fuzzing", "Presentation", "Automation", "Daemon", "Doctor", "MulticastDNS", "PlugClient", "PlugModel",
            "PlugProtocol", "ProtocolCore", "Metering", "LinuxClocks", "LinuxNetwork", "ServiceDiscovery", "DNSWire",
            "Terminal", "MadeUpKeys", "LocalCalendar", "Tariffs", "PowerHistory", "Charting", "TestFolders",
        ]),
    tests(
        "SimulationTests",
        [
            "SimulatedLAN", "SimulatedDisk", "MadeUpKeys", "ProtocolCore", "DNSWire", "MulticastDNS",
            "ServiceDiscovery", "PlugModel", "PlugProtocol", "Metering", "DurableFiles", "Appliance", "Storage",
            "PlugClient", "Automation", "Daemon", "PowerHistory", "AddressConfiguration", "LinkWire",
        ]),
    tests(
        "PlugConfigurationTests",
        ["ConfigurationFiles", "PlugConfiguration", "Appliance", "PlugModel"],
        exclude: ["Broken"]),
    tests("StructureTests", []),
]

/// The fuzzer. libFuzzer contains its own main function, so only builds with `--sanitize fuzzer` can link it. See
/// Scripts/lib/fuzz.
let fuzzer: [Target] = build == "fuzzer" ? [program("Fuzzer", "Tests/Fuzz/Fuzzer", ["FuzzTargets"])] : []

/// The benchmarks. Only `Scripts/bench` builds them, because they need additional libraries and build time.
let benchmarks: [Target] =
    Context.environment["SMARTPLUG_BENCHMARKS"] == nil
    ? []
    : [
        .systemLibrary(name: "CMallocStatistics", path: "Tests/CMallocStatistics"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CMallocStatistics", "ProtocolCore", "DNSWire", "ServiceDiscovery", "PlugModel", "PlugProtocol",
                "PlugTransport", "LinuxClocks", "LinuxNetwork", "PlugClient", "Appliance", "Metering", "Recordings",
                "PlugHardware", "PlugService", "Storage", "MadeUpKeys", "PowerHistory", "Charting", "Automation",
                "Backtesting", "LocalCalendar", "Broker", "BrokerConfiguration", "Daemon", "HistoryDelivery", "MQTT",
                "PlugTopics", "PostgreSQL", "HomeKit", "SimulatedHomeKit",
                "Scripting", nioCore, nioPosix, nioEmbedded, nioSSL, logging,
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Tests/Benchmarks", swiftSettings: strict, linkerSettings: standalone),
    ]

/// Adds all transitive dependencies to each target. The memory layout of a module's types depends on all modules below
/// it, but a build recompiles a module only if one of its declared dependencies has changed.
func namingAll(_ targets: [Target]) -> [Target] {
    let named = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0.namesOfOurs) })
    for target in targets {
        var found = target.namesOfOurs
        var index = 0
        while index < found.count {
            found += (named[found[index]] ?? []).filter { !found.contains($0) }
            index += 1
        }
        target.dependencies += found.dropFirst(target.namesOfOurs.count).map { .target(name: $0) }
    }
    return targets
}

extension Target {
    /// The names of the targets in this package that this target depends on.
    var namesOfOurs: [String] {
        dependencies.compactMap { if case .byNameItem(let name, _) = $0 { name } else { nil } }
    }
}

let tried = checks.filter { check in !check.isTest || only?.contains { check.name == "\($0)Tests" } ?? true }

let wanted =
    switch build {
    case "shipped" where !benchmarks.isEmpty: shared + firmware + controller + supports + benchmarks
    case "shipped", "demo": shared + firmware + controller
    case "tests":
        (shared + firmware + controller).filter { !["plugd", "plugctl"].contains($0.name) } + supports + examples
            + tried
    default: shared + firmware + controller + supports + examples + tried + fuzzer + benchmarks
    }

let package = Package(
    name: "smartplug",
    products: [
        .library(
            name: "PlugClient",
            targets: ["PlugClient", "PlugTransport", "PlugModel", "PlugProtocol", "Metering", "LinuxClocks"]),
        .library(name: "ServiceDiscovery", targets: ["ServiceDiscovery", "LinuxNetwork"]),
        .executable(name: "plugctl-script", targets: ["ScriptHost"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Without traits: no configuration reader, and only the necessary parts of Foundation.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: namingAll(wanted),
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
