/// A small sample package without violations, in which a test changes one thing.
enum MadeUpTree {
    static let manifest = #"""
        func module(_ folder: String, _ names: String = "") -> Target {
            .target(name: name(folder), path: folder)
        }

        let targets: [Target] = [
            module("Sources/DNSWire"),
            module("Sources/LinuxNetwork", "DNSWire CLinuxNetwork NIOCore"),
            module("Sources/CLinuxNetwork", links: "dl"),
            .systemLibrary(name: "CLZMA", path: "Sources/CLZMA", pkgConfig: "liblzma", providers: [.apt(["liblzma-dev"])]),
            module("Sources/Recordings", "CLZMA"),
            module("Firmware/PlugHardware"),
            program("Firmware/plugd", "PlugHardware"),
            module(
                "Controller/RuleFiles",
                """
                DNSWire \
                Yams
                """),
            module("Tests/Support/SimulatedLAN", "DNSWire"),
            .executableTarget(
                name: "ScriptHost", path: "Controller/ScriptHost"),
        ]
            + tests("DNSWire LinuxNetwork", exclude: "Golden")
        """#

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
        "Tests/LinuxNetworkTests/SocketTests.swift": "import DNSWire\nimport NIOCore\nimport Testing\n",
    ]

    /// Returns the package with added or replaced files and a changed manifest.
    static func tree(
        adding added: [String: String] = [:], manifest change: (String) -> String = { $0 }
    ) -> SourceTree {
        let files = Self.files.merging(added) { _, new in new }
        return SourceTree(files: files.map(SourceFile.init).sorted { $0.path < $1.path }, manifest: change(manifest))
    }
}
