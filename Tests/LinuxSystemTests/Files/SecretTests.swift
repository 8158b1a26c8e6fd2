import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("Secrets")
struct SecretTests {
    private let directory = TestFolder()
    private let store = FileStore()
    private var file: String { directory.path + "/key" }

    @Test("A secret is read back, and only its owner has access")
    func roundTrip() throws {
        try store.replaceSecret(file, with: [1, 2, 3])
        #expect(try store.readSecretIfPresent(file, limit: 3) == [1, 2, 3])
        #expect(directory.mode(of: "key") == 0o600)
        #expect(directory.names == ["key"])
    }

    @Test("A missing secret is nil, and one beyond the limit is an error")
    func limits() throws {
        #expect(try store.readSecretIfPresent(file, limit: 3) == nil)
        try store.replaceSecret(file, with: [1, 2, 3])
        #expect(throws: FileError(.read, file, .tooLarge(limit: 2))) { try store.readSecretIfPresent(file, limit: 2) }
    }

    @Test("An existing secret is not created again")
    func createdOnce() throws {
        #expect(try store.createSecret(file, with: [1]))
        #expect(directory.mode(of: "key") == 0o600)
        #expect(try !store.createSecret(file, with: [2]))
        #expect(try store.readSecretIfPresent(file, limit: 10) == [1])
        #expect(directory.names == ["key"])
    }

    @Test("A power cut or a kill during the creation leaves the complete secret or none", arguments: 0..<40)
    func createdWholeOrNot(steps: Int) throws {
        for breakdown in [SimulatedDisk.Breakdown.powerCut, .kill] {
            let disk = SimulatedDisk(seed: UInt64(steps))
            let store = FileStore(calls: disk)
            disk.breakDown(breakdown, afterSteps: steps)
            let isMade = (try? store.createSecret("key", with: Array(1...9))) == true
            breakdown == .powerCut ? disk.boot() : disk.startProcess()
            let bytes = try store.readSecretIfPresent("key", limit: 10)
            #expect(bytes == Array(1...9) || (!isMade && bytes == nil))
            // Afterwards the next start can create the secret.
            if bytes == nil {
                let isMadeNow = try store.createSecret("key", with: [7])
                #expect(isMadeNow)
            }
        }
    }

    @Test(
        "A secret that other users can access is refused",
        arguments: [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o777] as [UInt32])
    func exposed(mode: UInt32) throws {
        try store.replaceSecret(file, with: [1])
        #expect(chmod(file, mode) == 0)
        let error = #expect(throws: FileError.self) { try store.readSecretIfPresent(file, limit: 10) }
        #expect(error?.reason == .exposed(permissions: mode))
        #expect(
            error?.description
                == "refusing to read the secret \(file): other users have access to it (mode 0\(String(mode, radix: 8)))"
        )
        #expect(error?.hint?.contains("chmod 600 \(file)") == true)
    }

    @Test("A secret may be read-only for its owner", arguments: [0o600, 0o400] as [UInt32])
    func ownersOnly(mode: UInt32) throws {
        try store.replaceSecret(file, with: [1])
        #expect(chmod(file, mode) == 0)
        #expect(try store.readSecretIfPresent(file, limit: 10) == [1])
    }

    @Test("A link, a directory, a pipe and a device are refused, even a link to a valid secret")
    func noPlainFile() throws {
        try store.replaceSecret(file + "-of-another", with: [1])
        #expect(symlink(file + "-of-another", file) == 0)
        let refusal = FileError(.read, file, .noPlainFile)
        #expect(throws: refusal) { try store.readSecretIfPresent(file, limit: 10) }
        #expect(unlink(file) == 0)
        // The pipe has no writer, so a blocking open would never return.
        #expect(mkfifo(file, 0o600) == 0)
        #expect(throws: refusal) { try store.readSecretIfPresent(file, limit: 10) }
        #expect(throws: FileError(.read, directory.path, .noPlainFile)) {
            try store.readSecretIfPresent(directory.path, limit: 10)
        }
        #expect(throws: FileError(.read, "/dev/null", .noPlainFile)) {
            try store.readSecretIfPresent("/dev/null", limit: 10)
        }
    }

    @Test("An empty secret is refused")
    func empty() throws {
        try store.replaceSecret(file, with: [])
        #expect(throws: FileError(.read, file, .empty)) { try store.readSecretIfPresent(file, limit: 10) }
    }

    @Test("Replacing a link does not change its target")
    func replacesLink() throws {
        try store.replace(file + "-of-another", with: [9], mode: 0o644)
        #expect(symlink(file + "-of-another", file) == 0)
        try store.replaceSecret(file, with: [1])
        #expect(try store.readSecretIfPresent(file, limit: 10) == [1])
        #expect(try store.read(file + "-of-another", limit: 10) == [9])
    }

    @Test("A secret is private even if the file mode creation mask is empty")
    func openMask() throws {
        let mask = umask(0)
        defer { umask(mask) }
        try store.replaceSecret(file, with: [1])
        #expect(directory.mode(of: "key") == 0o600)
    }

    @Test("Signals do not change the result")
    func interrupted() throws {
        let disk = SimulatedDisk()
        disk.change { $0.interruptions = 2 }
        let store = FileStore(calls: disk)
        try store.replaceSecret("key", with: [1, 2])
        #expect(try store.readSecretIfPresent("key", limit: 10) == [1, 2])
    }

    @Test("A secret of another user is refused", .enabled(if: geteuid() == 0))
    func otherUser() throws {
        try store.replaceSecret(file, with: [1])
        #expect(chown(file, 65534, 65534) == 0)
        #expect(throws: FileError(.read, file, .foreign(owner: 65534))) {
            try store.readSecretIfPresent(file, limit: 10)
        }
    }

    @Test("A secret file for appending is created for its owner only, and refused if other users can access it")
    func appending() throws {
        let made = try AppendingFile(file, isSecret: true, store: store)
        try made.append([1])
        #expect(directory.mode(of: "key") == 0o600)
        try AppendingFile(file, isSecret: true, store: store).append([2])
        #expect(chmod(file, 0o644) == 0)
        let error = #expect(throws: FileError.self) { try AppendingFile(file, isSecret: true, store: store) }
        #expect(error == FileError(.open, file, .exposed(permissions: 0o644)))
        #expect(
            error?.description.hasPrefix("refusing to open the secret \(file): other users have access to it") == true)
        #expect(throws: FileError(.open, "/dev/null", .noPlainFile)) {
            try AppendingFile("/dev/null", isSecret: true, durability: .process, store: store)
        }
        #expect(try store.read(file, limit: 10) == [1, 2])
    }
}
