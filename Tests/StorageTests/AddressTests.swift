import Foundation
import LinuxSystem
import ProtocolCore
import Testing

@testable import Storage

/// Tests of the stored addresses of paired controllers.
@Suite struct AddressTests {
    private let directories = Directories()

    private func open() throws -> PlugStorage {
        var random = SeededRandom(seed: 1)
        return try PlugStorage(
            state: directories.state, runtime: directories.runtime, boot: firstBoot, random: &random,
            tell: { Issue.record("\($0)") })
    }

    @Test("The next process reads the stored addresses") func theNextProcessKnowsThem() throws {
        do {
            let storage = try open()
            #expect(storage.addresses == [])
            storage.keep(addresses: ["192.0.2.7"])
            storage.keep(addresses: ["192.0.2.7", "fe80::1:2"])
        }
        #expect(try open().addresses == ["192.0.2.7", "fe80::1:2"])
        let path = directories.runtime + "/addresses"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600, "only plugd's user can read the addresses")
    }

    @Test("A factory reset removes the addresses") func aPlugThatWasResetKnowsNone() throws {
        let storage = try open()
        storage.keep(addresses: ["192.0.2.7"])
        #expect(storage.orderReset())
        storage.close()
        storage.keep(addresses: ["192.0.2.8"])
        let next = try open()
        #expect(next.wasReset && next.addresses == [])
        #expect(directories.text("runtime/addresses") == nil)
    }

    @Test("Invalid addresses are ignored, and at most sixteen are read")
    func whatIsNoAddressIsLeftOutAndThereAreNoMoreThanSixteen() throws {
        try directories.write(
            "192.0.2.7\n\nnonsense\n 192.0.2.8\n" + String(repeating: "1", count: 46) + "\n::1", to: "runtime/addresses"
        )
        #expect(try open().addresses == ["192.0.2.7", "::1"])
        let many = (0..<100).map { "192.0.2.\($0)" }
        try directories.write(many.joined(separator: "\n"), to: "runtime/addresses")
        #expect(try open().addresses == Array(many.prefix(16)))
        try directories.write(String(repeating: "1\n", count: 3000), to: "runtime/addresses")
        #expect(try open().addresses == [], "a file above the size limit is ignored")
        try directories.write("192.0.2.7\n", to: "runtime/addresses")
        try directories.setMode(0o644, of: "runtime/addresses")
        #expect(try open().addresses == [])
    }

    @Test("Random bytes result in valid addresses only") func anyBytesGiveAddressesOrNone() {
        var random = SeededRandom(seed: 5)
        let likely = Array("0123456789abcdef.:\n\n g\0".utf8)
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<200, using: &random)
            let bytes = (0..<count).map { _ in
                Bool.random(using: &random)
                    ? likely.randomElement(using: &random)! : .random(in: 0...255, using: &random)
            }
            let found = AddressFile.parse(bytes)
            #expect(found.count <= 16 && found.allSatisfy { (1...45).contains($0.utf8.count) })
            #expect(AddressFile.parse(AddressFile.bytes(of: found)) == found)
        }
    }
}
