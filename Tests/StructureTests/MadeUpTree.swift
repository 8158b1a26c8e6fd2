/// A small sample package without violations, in which a test changes one thing.
enum MadeUpTree {
    static let manifest = """
        let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")

        func module(_ name: String, _ path: String) -> Target {
            .target(name: name, path: path)
        }

        let targets: [Target] = [
            module("DNSWire", "Sources/DNSWire"),
            .target(name: "CLinuxNetwork", path: "Sources/CLinuxNetwork"),
            module("LinuxNetwork", "Sources/LinuxNetwork", ["DNSWire", "CLinuxNetwork", nioCore]),
            .systemLibrary(name: "CLZMA", path: "Sources/CLZMA", pkgConfig: "liblzma", providers: [.apt(["liblzma-dev"])]),
            module("Recordings", "Sources/Recordings", ["CLZMA"]),
            module("PlugHardware", "Firmware/PlugHardware"),
            program("plugd", "Firmware/plugd", ["PlugHardware"]),
            module(
                "RuleFiles", "Controller/RuleFiles",
                [
                    "DNSWire", .product(name: "Yams", package: "Yams"),
                ]),
            .target(
                name: "SimulatedLAN", dependencies: ["DNSWire"], path: "Tests/Support/SimulatedLAN"),
            tests("DNSWireTests", ["DNSWire"]),
        ]
        """

    static let files: [String: String] = [
        "Sources/DNSWire/Name.swift": "public struct Name {}\n",
        "Sources/CLinuxNetwork/include/sockets.h": "int open_socket(void);\n",
        "Sources/LinuxNetwork/Socket.swift":
            "import CLinuxNetwork\npublic import DNSWire\nimport Glibc\nimport NIOCore\n",
        "Sources/Recordings/Reader.swift": "import CLZMA\n",
        "Firmware/PlugHardware/Relay.swift": "public protocol Relay {}\n",
        "Firmware/plugd/main.swift": "import PlugHardware\n",
        "Controller/RuleFiles/Rules.swift": "import DNSWire\nimport Yams\n",
        "Tests/Support/SimulatedLAN/Link.swift": "import DNSWire\n",
        "Tests/DNSWireTests/NameTests.swift": "@testable import DNSWire\nimport Testing\n",
    ]

    /// Returns the package with added or replaced files and a changed manifest.
    static func tree(
        adding added: [String: String] = [:], manifest change: (String) -> String = { $0 }
    ) -> SourceTree {
        let files = Self.files.merging(added) { _, new in new }
        return SourceTree(files: files.map(SourceFile.init).sorted { $0.path < $1.path }, manifest: change(manifest))
    }
}
