// swift-tools-version: 6.2
import PackageDescription

/// The kind of build, set by Scripts/lib/build.sh: `demo` and `shipped` (the programs), `profile` (the programs with
/// symbols), `tests` (all tests and their helpers) or `fuzzer`. Without it, all targets are built with default settings,
/// and packages that depend on this one get no unsafe flags.
let build = Context.environment["SMARTPLUG_BUILD"]

/// The modules to test, such as `Automation,RuleFiles`. Only their tests are built, without optimization, to save time.
let only = Context.environment["SMARTPLUG_ONLY"]?.split(separator: ",").map(String.init)

/// Links the Swift runtime statically, and strips the programs except for a profile. SwiftPM's own option changes the
/// compile commands, so the tests, which need the dynamic runtime, could not share compiled modules with the demo build.
let standaloneFlags = """
    -use-ld=lld -static-stdlib \(build == "profile" ? "" : "-Xlinker --strip-all") -l_FoundationICU -lCoreFoundation \
    -l_FoundationCShims -l_FoundationCollections -lswiftSynchronization -Xlinker --no-export-dynamic -Xlinker -z \
    -Xlinker pack-relative-relocs
    """
let standalone: [LinkerSetting] = [nil, "fuzzer"].contains(build) ? [] : [.unsafeFlags(words(standaloneFlags))]

/// The settings of every Swift target in this package. The tools version implies the Swift 6 language mode.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Returns the settings of a module. A test build optimizes it, unless SMARTPLUG_ONLY names it, because the simulations
/// would be too slow otherwise.
func settings(_ name: String) -> [SwiftSetting] {
    strict + (build == "tests" && only?.contains(name) != true ? [.unsafeFlags(["-O"])] : [])
}

// Names are separated by spaces. A target lists only the dependencies that its other dependencies do not have
// (``complete(_:)`` adds the others). Tests/StructureTests/Layout.swift describes the targets.

func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
func dependencies(_ names: String) -> [Target.Dependency] { words(names).map { .byName(name: $0) } }
func name(_ folder: String) -> String { String(folder.split(separator: "/").last!) }

/// Declares a module in Swift or C. `links` are the libraries that it needs.
func module(_ folder: String, _ names: String = "", links: String = "", exclude: String = "") -> Target {
    .target(
        name: name(folder), dependencies: dependencies(names), path: folder, exclude: words(exclude),
        swiftSettings: settings(name(folder)), linkerSettings: words(links).map { .linkedLibrary($0) })
}

func program(_ folder: String, _ names: String) -> Target {
    .executableTarget(
        name: name(folder), dependencies: dependencies(names), path: folder, swiftSettings: settings(name(folder)),
        linkerSettings: standalone)
}

/// Declares the tests of modules: `MeteringTests` tests `Metering`. Tests are not optimized: optimizing doubles their
/// compile time and does not make them faster, because they wait for the tested modules.
@MainActor func tests(_ modules: String, _ names: String = "", exclude: String = "") -> [Target] {
    words(modules).filter { only?.contains($0) ?? true }.map { tested in
        let isModule = (parts + supports).contains { $0.name == tested }
        return .testTarget(
            name: "\(tested)Tests", dependencies: dependencies((isModule ? "\(tested) " : "") + names),
            path: "Tests/\(tested)Tests", exclude: words(exclude),
            // Usually Foundation links the math library, but the tests of a few modules may not use Foundation.
            swiftSettings: strict, linkerSettings: [.linkedLibrary("m")])
    }
}

/// The products of other packages. Targets list them by name, like the modules of this package.
let products = [
    "swift-nio": "NIOCore NIOPosix NIOHTTP1 NIOTLS NIOEmbedded", "swift-nio-ssl": "NIOSSL", "swift-log": "Logging",
    "swift-protobuf": "SwiftProtobuf", "swift-service-lifecycle": "UnixSignals",
    "swift-argument-parser": "ArgumentParser", "swift-async-algorithms": "AsyncAlgorithms",
    "swift-crypto": "Crypto CryptoExtras", "swift-http-types": "HTTPTypes", "swift-collections": "DequeModule",
    "hummingbird": "Hummingbird HummingbirdCore HummingbirdTLS", "async-http-client": "AsyncHTTPClient",
    "GRDB.swift": "GRDB GRDBSQLite", "Yams": "Yams",
]

let shared: [Target] = [
    module("Sources/ProtocolCore"),
    module("Sources/DNSWire"),
    module("Sources/MulticastDNS", "ProtocolCore DNSWire"),
    module("Sources/ServiceDiscovery", "MulticastDNS"),
    module("Sources/UnicastDNS", "ServiceDiscovery Crypto DequeModule"),
    module("Sources/PortMapping", "ProtocolCore DNSWire"),
    module("Sources/Metering", "ProtocolCore"),
    module("Sources/PlugModel", "Metering"),
    module("Sources/PlugProtocol", "PlugModel SwiftProtobuf Crypto DequeModule", exclude: "Specification"),
    module("Sources/PlugTransport", "PlugModel CPlugTransport LinuxNetwork NIOTLS"),
    module("Sources/JSONText"),
    module("Sources/PlugTopics", "PlugModel JSONText Crypto DequeModule"),
    module("Sources/HomeKit", "ProtocolCore JSONText Crypto"),
    module("Sources/LargeNumbers", "HomeKit CGMP"),
    module("Sources/MatterWire"),
    module("Sources/MatterSessions", "ProtocolCore MatterWire Crypto"),
    module("Sources/Matter", "MatterSessions"),
    module("Sources/MatterCryptography", "MatterSessions COpenSSL"),
    module("Sources/MQTT", "PlugTopics CMosquitto LinuxSystem NIOCore NIOPosix"),
    module("Sources/BrokerConfiguration", "PlugTopics LinuxSystem ConfigurationFiles"),
    .systemLibrary(name: "CQREncode", path: "Sources/CQREncode", providers: [.apt(["libqrencode-dev"])]),
    module("Sources/QRCode", "CQREncode"),
    module("Sources/LinuxSystem", "ProtocolCore CLinuxSystem"),
    module(
        "Sources/LinuxNetwork",
        "UnicastDNS PortMapping LinuxSystem ConfigurationFiles CLinuxNetwork NIOCore NIOPosix NIOSSL Logging"),
    module("Sources/ProcessSetup", "CProcessSetup ArgumentParser"),
    module("Sources/ConfigurationFiles", "ProtocolCore CTOML"),
    .systemLibrary(name: "CLZMA", path: "Sources/CLZMA", providers: [.apt(["liblzma-dev"])]),
    module("Sources/Recordings", "ProtocolCore CLZMA"),
]

let firmware: [Target] = [
    module("Firmware/AddressConfiguration", "ProtocolCore DNSWire Crypto"),
    module("Firmware/WiFi", "PlugModel AddressConfiguration"),
    module("Firmware/WiFiService", "WiFi LinuxNetwork NIOHTTP1"),
    module("Firmware/SleepProxy", "AddressConfiguration ServiceDiscovery"),
    module("Firmware/AddressService", "PlugModel LinuxNetwork AddressConfiguration"),
    module("Firmware/SleepProxyService", "SleepProxy AddressService JSONText"),
    module("Firmware/Appliance", "PlugProtocol"),
    module("Firmware/Storage", "LinuxSystem Appliance"),
    module("Firmware/FirmwareProcess", "PlugModel LinuxSystem CFirmwareProcess"),
    module("Firmware/CFirmwareProcess", links: "seccomp"),
    module("Firmware/PlugHardware", "Metering Recordings"),
    module("Firmware/LinuxDevices", "LinuxSystem PlugHardware CGPIOD CLinuxDevices"),
    module("Firmware/PlugConfiguration", "WiFi BrokerConfiguration LinuxNetwork Appliance"),
    module("Firmware/PlugBroker", "PlugProtocol MQTT BrokerConfiguration LinuxNetwork"),
    module("Firmware/HomeKitDoor", "PlugProtocol PlugTransport LargeNumbers"),
    module("Firmware/MatterDoor", "PlugProtocol LinuxNetwork JSONText Matter MatterCryptography"),
    module(
        "Firmware/PlugService",
        "SleepProxyService WiFiService Storage FirmwareProcess PlugHardware PlugConfiguration PlugBroker HomeKitDoor MatterDoor"
    ),
    program("Firmware/plugd", "QRCode ProcessSetup LinuxDevices PlugService UnixSignals"),
]

let controller: [Target] = [
    module("Controller/PlugClient", "PlugProtocol PlugTransport CPlugInHand"),
    module("Controller/SleepClient", "ServiceDiscovery"),
    module("Controller/HostSleep", "SleepClient LinuxNetwork Processes CSystemBus"),
    module("Controller/RuleModel", "PlugModel HouseCalendar ApplianceSense"),
    module("Controller/RuleChecks", "RuleModel"),
    module("Controller/Automation", "RuleModel"),
    module("Controller/DurableRules", "Automation SwiftProtobuf", exclude: "Stored/rule_state.proto"),
    module("Controller/RuleFiles", "RuleChecks Yams"),
    module("Controller/HouseCalendar", "ConfigurationFiles"),
    module("Controller/Charting", "HouseCalendar"),
    module("Controller/ApplianceSense"),
    module("Controller/PowerHistory", "PlugModel LinuxSystem Recordings HouseCalendar GRDB GRDBSQLite"),
    module("Controller/Backtesting", "DurableRules PowerHistory"),
    module("Controller/Processes", "LinuxSystem CProcesses"),
    module("Controller/Scripting", "JSONText RuleFiles Backtesting Processes"),
    module("Controller/HTTPRequests", "LinuxSystem AsyncHTTPClient NIOCore NIOPosix NIOHTTP1 NIOSSL"),
    module("Controller/WebPush", "ProtocolCore JSONText Crypto"),
    module("Controller/Effects", "RuleChecks DurableRules HTTPRequests HostSleep"),
    module("Controller/Terminal", "LinuxSystem Charting"),
    module("Controller/Daemon", "PlugClient HostSleep Scripting CryptoExtras AsyncAlgorithms"),
    module("Controller/Doctor", "PlugClient HostSleep"),
    module("Controller/Presentation", "Terminal Daemon Doctor Fleet"),
    module("Controller/RuleEditing", "Presentation Effects"),
    module("Controller/Broker", "MQTT BrokerConfiguration Daemon"),
    module("Controller/PostgreSQL", "LinuxSystem ConfigurationFiles CPostgreSQL"),
    module(
        "Controller/HistoryDelivery", "PlugTopics Effects Daemon PostgreSQL CSnappy",
        exclude: "RemoteWrite/remote_write.proto"),
    module("Controller/Fleet", "PlugTopics"),
    module("Controller/SystemUpdates", "Daemon HTTPRequests"),
    module("Controller/FleetService", "MQTT BrokerConfiguration LinuxNetwork PostgreSQL Fleet"),
    module(
        "Controller/Dashboard",
        "RuleEditing FleetService SystemUpdates WebPush CDashboardPage CPasswordHash Hummingbird HummingbirdCore HummingbirdTLS HTTPTypes"
    ),
    module("Controller/CDashboardPage", exclude: "api page"),
    module("Controller/CPasswordHash", links: "crypt"),
    module("Controller/DaemonClient", "HTTPRequests"),
    program("Controller/plugctl", "QRCode ProcessSetup Broker HistoryDelivery Dashboard DaemonClient UnixSignals"),
    .executableTarget(
        name: "ScriptHost", path: "Controller/ScriptHost", exclude: ["prelude"],
        // Without the startup code, because the program does not start Swift's runtime.
        linkerSettings: standalone + ["lua5.4", "lua5.4-cjson", "seccomp"].map { .linkedLibrary($0) }
            + [.unsafeFlags(["-nostartfiles"])]),
]

/// C code of single modules, and headers of C libraries that are loaded on first use.
let foreign: [Target] =
    words(
        """
        Sources/CPlugTransport Sources/CLinuxSystem Sources/CLinuxNetwork Sources/CProcessSetup Sources/CTOML \
        Sources/CLibraryLoader Firmware/CLinuxDevices Firmware/CGPIOD Controller/CPlugInHand Controller/CProcesses \
        Controller/CSnappy
        """
    ).map { module($0) }
    + words("Sources/CGMP Sources/COpenSSL Sources/CMosquitto Controller/CSystemBus Controller/CPostgreSQL")
    .map { module($0, "CLibraryLoader") }

let parts = shared + firmware + controller + foreign

let supports: [Target] = [
    module("Tests/Support/SimulatedLAN", "ProtocolCore DNSWire"), module("Tests/Support/Checkout"),
    module(
        "Tests/Support/TestSupport",
        "PlugProtocol LargeNumbers Matter MatterCryptography LinuxNetwork PlugHardware ApplianceSense"),
    module("Tests/Fuzz/FuzzTargets", "PlugService Dashboard TestSupport"),
]

let examples: [Target] = [
    program("Controller/Examples/Doorbell", "PlugClient"), program("Controller/Examples/FollowPlug", "PlugClient"),
    program("Controller/Examples/BrowseServices", "LinuxNetwork"),
    program("Controller/Examples/ButtonTurnsLamp/Sources/ButtonTurnsLamp", "PlugClient"),
    program("Tests/MeasureCycles", "TestSupport"), program("Tests/Interoperability/DecodeMessages", "DNSWire"),
]
let allTests: [[Target]] = [
    tests(
        """
        ProtocolCore DNSWire ServiceDiscovery Metering QRCode PlugBroker BrokerConfiguration JSONText LargeNumbers \
        PlugTopics RuleChecks Terminal Doctor SleepClient HostSleep UnicastDNS PortMapping WebPush MatterCryptography
        """), tests("PlugProtocol RuleFiles Structure", "Checkout"),
    tests(
        """
        MulticastDNS SimulatedLAN Broker HomeKitDoor MatterDoor PostgreSQL HistoryDelivery HomeKit PlugModel LinuxSystem \
        Appliance Storage FirmwareProcess AddressConfiguration AddressService LinuxDevices PlugHardware PlugService \
        PowerHistory Effects Backtesting Daemon RuleEditing DaemonClient Presentation SystemUpdates
        """,
        "TestSupport"), tests("Matter ApplianceSense Dashboard", "TestSupport Checkout"),
    tests("MatterWire", "ProtocolCore"), tests("MatterSessions", "TestSupport"), tests("Fleet", "FleetService"),
    tests("SleepProxy WiFi", "SimulatedLAN"), tests("Recordings", "Metering Checkout"),
    tests("Fuzz", "FuzzTargets Checkout"), tests("Scripting", "TestSupport Checkout", exclude: "stand-in.py"),
    tests("PlugTransport LinuxNetwork", "TestSupport NIOEmbedded"), tests("PlugClient", "PlugService TestSupport"),
    tests("HouseCalendar", "RuleChecks Automation"), tests("Example", "RuleFiles Automation TestSupport Checkout"),
    tests("Charting", "Checkout", exclude: "Golden"), tests("PlugConfiguration", "Checkout", exclude: "Broken"),
    tests("Automation", "DurableRules Checkout", exclude: "House/Stored"),
    tests("Simulation", "AddressConfiguration Storage Daemon SimulatedLAN TestSupport"),
]
let examplesAndTests = examples + allTests.flatMap { $0 }

/// The benchmarks. Only `Scripts/bench` builds them, because they need additional libraries and build time.
let benchmarks: [Target] = [
    .systemLibrary(name: "CMallocStatistics", path: "Tests/CMallocStatistics"),
    program(
        "Tests/Benchmarks", "CMallocStatistics PlugService Charting Broker HistoryDelivery TestSupport NIOEmbedded"),
]

let wanted =
    switch build {
    case "shipped" where Context.environment["SMARTPLUG_BENCHMARKS"] != nil: parts + supports + benchmarks
    case "shipped", "demo": parts
    case "tests": parts.filter { !["plugd", "plugctl"].contains($0.name) } + supports + examplesAndTests
    // libFuzzer has its own main function, so only builds with `--sanitize fuzzer` can link it (Tests/Fuzz/guided).
    case "fuzzer": parts + supports + [program("Tests/Fuzz/Fuzzer", "FuzzTargets")]
    default: parts + supports + examplesAndTests
    }

/// Adds all transitive dependencies to each target. The memory layout of a module's types depends on all modules below
/// it, but a build recompiles a module only if one of its declared dependencies has changed.
func complete(_ targets: [Target]) -> [Target] {
    let listed = targets.reduce(into: [:]) { listed, target in
        listed[target.name] = target.dependencies.compactMap { dependency in
            if case .byNameItem(let name, _) = dependency { name } else { nil }
        }
    }
    let packages = products.flatMap { package, names in words(names).map { ($0, package) } }
    let packageByProduct = Dictionary(uniqueKeysWithValues: packages)
    for target in targets {
        var all: [String] = []
        func add(_ names: [String]) {
            for name in names where !all.contains(name) { all.append(name); add(listed[name] ?? []) }
        }
        add(listed[target.name] ?? [])
        target.dependencies = all.map { name in
            packageByProduct[name].map { .product(name: name, package: $0) } ?? .byName(name: name)
        }
    }
    return targets
}

let package = Package(
    name: "smartplug",
    products: [
        .library(
            name: "PlugClient", targets: words("PlugClient PlugTransport PlugModel PlugProtocol Metering LinuxSystem")),
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
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: complete(wanted),
    cxxLanguageStandard: .cxx17
)
