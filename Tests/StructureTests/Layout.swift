/// The kind of each target. The author of a new target adds a line here, which decides what the target may import.
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
        "Sources/ProtocolCore": .pure,
        "Sources/DNSWire": .pure,
        "Sources/PacketTraces": .pure,
        "Sources/MulticastDNS": .pure,
        "Sources/ServiceDiscovery": .pure,
        "Sources/Metering": .pure,
        "Sources/PlugModel": .pure,
        "Sources/PlugProtocol": .pure,
        "Sources/JSONText": .pure,
        "Sources/PlugTopics": .pure,
        "Sources/CLibraryLoader": .foreign,
        "Sources/HomeKit": .pure,
        "Sources/CGMP": .foreign,
        "Sources/LargeNumbers": .shell,
        "Sources/CMosquitto": .foreign,
        "Sources/MQTT": .shell,
        "Sources/BrokerConfiguration": .shell,
        "Sources/PlugTransport": .shell,
        "Sources/CPlugTransport": .foreign,
        "Sources/CLinuxClocks": .foreign,
        "Sources/LinuxClocks": .system,
        "Sources/CLinuxNetwork": .foreign,
        "Sources/LinuxNetwork": .system,
        "Sources/DurableFiles": .system,
        "Sources/CProcessSetup": .foreign,
        "Sources/ProcessSetup": .shell,
        "Sources/CLZMA": .foreign,
        "Sources/CTOML": .foreign,
        "Sources/ConfigurationFiles": .shell,
        "Sources/Recordings": .shell,
        "Firmware/LinkWire": .pure,
        "Firmware/AddressConfiguration": .pure,
        "Firmware/AddressService": .shell,
        "Firmware/Appliance": .pure,
        "Firmware/Storage": .shell,
        "Firmware/CCrashReport": .foreign,
        "Firmware/CrashReports": .shell,
        "Firmware/CPrivileges": .foreign,
        "Firmware/Privileges": .system,
        "Sources/CQREncode": .foreign,
        "Sources/QRCode": .shell,
        "Firmware/PlugHardware": .shell,
        "Firmware/CGPIOD": .foreign,
        "Firmware/CLinuxDevices": .foreign,
        "Firmware/LinuxDevices": .system,
        "Firmware/PlugConfiguration": .shell,
        "Firmware/PlugBroker": .shell,
        "Firmware/HomeKitDoor": .shell,
        "Firmware/PlugService": .shell,
        "Firmware/plugd": .program,
        "Controller/CPlugInHand": .foreign,
        "Controller/PlugClient": .shell,
        "Controller/PowerHistory": .shell,
        "Controller/ApplianceSense": .pure,
        "Controller/LocalCalendar": .pure,
        "Controller/Tariffs": .shell,
        "Controller/CRSVG": .foreign,
        "Controller/Pictures": .shell,
        "Controller/Automation": .pure,
        "Controller/RuleFiles": .shell,
        "Controller/CScripting": .foreign,
        "Controller/Scripting": .system,
        "Controller/CEffects": .foreign,
        "Controller/Effects": .system,
        "Controller/Daylight": .shell,
        "Controller/Backtesting": .shell,
        "Controller/Daemon": .shell,
        "Controller/Doctor": .shell,
        "Controller/Charting": .pure,
        "Controller/Terminal": .system,
        "Controller/Presentation": .shell,
        "Controller/Broker": .shell,
        "Controller/CPostgreSQL": .foreign,
        "Controller/PostgreSQL": .shell,
        "Controller/CSnappy": .foreign,
        "Controller/HistoryDelivery": .shell,
        "Controller/Fleet": .pure,
        "Controller/FleetService": .shell,
        "Controller/CDashboardPage": .foreign,
        "Controller/CPasswordHash": .foreign,
        "Controller/Dashboard": .shell,
        "Controller/DaemonClient": .shell,
        "Controller/plugctl": .program,
        "Controller/ScriptHost": .program,
        "Controller/Examples/BrowseServices": .program,
        "Controller/Examples/Doorbell": .program,
        "Controller/Examples/FollowPlug": .program,
        "Controller/Examples/ButtonTurnsLamp/Sources/ButtonTurnsLamp": .program,
        "Tests/Support/SimulatedLAN": .support,
        "Tests/Support/SimulatedDisk": .support,
        "Tests/Support/TestFolders": .support,
        "Tests/Support/SimulatedAppliances": .support,
        "Tests/MeasureCycles": .program,
        "Tests/Support/Fuzzing": .support,
        "Tests/Support/PrivateNetworks": .support,
        "Tests/Support/MadeUpKeys": .support,
        "Tests/Support/RegisterModels": .support,
        "Tests/Support/SimulatedHomeKit": .support,
        "Tests/Fuzz/FuzzTargets": .support,
        "Tests/Fuzz/Fuzzer": .program,
        "Tests/Interoperability/DecodeMessages": .program,
        "Tests/Benchmarks": .support,
        "Tests/CMallocStatistics": .foreign,
    ]

    /// External libraries that a pure module may import: data structures, the runtime of generated messages, hashes.
    static let pureLibraries: Set = ["Crypto", "DequeModule", "OrderedCollections", "Swift", "SwiftProtobuf"]
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
