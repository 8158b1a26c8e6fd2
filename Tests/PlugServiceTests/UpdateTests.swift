import LinuxSystem
import PlugModel
import TestSupport
import Testing

@testable import PlugService

/// Performs requests one after the other, as the service does.
private final class Receiver {
    private var updates: PlugUpdates

    init(_ folder: UpdateFolder) { updates = PlugUpdates(folder) }

    func ask(_ request: UpdateRequest, relayOn: Bool = false) throws(Refusal) -> UpdateReport {
        let work = try updates.reception.begin(request, relayOn: relayOn)
        return try updates.reception.finish(updates.folder.perform(work)).get()
    }

    /// Returns true if a restart waited for this state of the relay.
    func restarts(relayOn: Bool) throws(Refusal) -> Bool {
        guard let work = updates.reception.restart(relayOn: relayOn) else { return false }
        _ = try updates.reception.finish(updates.folder.perform(work)).get()
        return true
    }
}

/// The bundle that a plug receives, and the files that it exchanges with the installer of its image.
@Suite struct UpdateTests {
    private let directory = TestFolder()
    private let bundle = BundleID(bytes: 1...16)!
    private let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func folder() throws -> UpdateFolder {
        try FileStore().makeDirectories(directory.directories.state + "/update")
        try FileStore().makeDirectories(directory.directories.runtime)
        return try #require(UpdateFolder(directory.directories))
    }

    private func write(_ text: String) throws {
        try FileStore().replace(directory.directories.runtime + "/update", with: Array(text.utf8))
    }

    private func exists(_ name: String) -> Bool {
        FileStamp(of: directory.directories.state + "/update/" + name) != nil
    }

    @Test("Without the folder of the image, the plug cannot be updated") func noFolder() {
        #expect(UpdateFolder(directory.directories) == nil)
    }

    @Test("A bundle that arrives in parts is complete only after the last part") func received() throws {
        let plug = Receiver(try folder())
        var report = try plug.ask(.begin(bundle, size: 100_000, allowsOlder: true))
        #expect(report.phase == .receiving(0, of: 100_000))
        for start in stride(from: 0, to: 100_000, by: 30_000) {
            #expect(!exists("bundle.raucb"))
            let part = Array(content[start..<min(start + 30_000, 100_000)])
            report = try plug.ask(.part(offset: UInt64(start), part))
        }
        #expect(report.phase == .installing(percent: 0))
        let path = directory.directories.state + "/update/bundle.raucb"
        #expect(try FileStore().read(path, limit: 200_000) == content)
        #expect(exists("older") && !exists("bundle.part"))
        // The installer has this bundle.
        #expect(throws: Refusal.self) { try plug.ask(.begin(bundle, size: 1, allowsOlder: false)) }
    }

    @Test("An interrupted bundle continues, and a different one begins at its start") func interrupted() throws {
        let plug = Receiver(try folder())
        _ = try plug.ask(.begin(bundle, size: 10, allowsOlder: false))
        _ = try plug.ask(.part(offset: 0, [1, 2, 3]))
        let again = try plug.ask(.begin(bundle, size: 10, allowsOlder: false))
        #expect(again.phase == .receiving(3, of: 10))
        for part in [UpdateRequest.part(offset: 2, [3]), .part(offset: 3, Array(1...8))] {
            #expect(throws: Refusal.self) { try plug.ask(part) }
        }
        #expect(try plug.ask(.ask).phase == .receiving(3, of: 10))
        let other = BundleID(bytes: 2...17)!
        #expect(try plug.ask(.begin(other, size: 2, allowsOlder: false)).phase == .receiving(0, of: 2))
        #expect(try plug.ask(.part(offset: 0, [9, 8])).phase == .installing(percent: 0))
        #expect(try FileStore().read(directory.directories.state + "/update/bundle.raucb", limit: 9) == [9, 8])
    }

    @Test("A bundle that has no room, or whose file has changed, is refused") func refused() throws {
        let plug = Receiver(try folder())
        _ = try plug.ask(.begin(bundle, size: 10, allowsOlder: false))
        _ = try plug.ask(.part(offset: 0, [1, 2, 3]))
        try FileStore().removeIfPresent(directory.directories.state + "/update/bundle.part")
        #expect(throws: Refusal.self) { try plug.ask(.part(offset: 3, [4])) }
        #expect(try plug.ask(.ask).phase == .unknown)
        #expect(throws: Refusal.self) { try plug.ask(.part(offset: 0, [1])) }
        #expect(throws: Refusal.self) {
            try plug.ask(.begin(bundle, size: 1 << 62, allowsOlder: false))
        }
        #expect(try plug.ask(.cancel).phase == .unknown)
        try write("phase=idle\n")
        #expect(try plug.ask(.ask).phase == .idle)
    }

    @Test(
        "After a power cut or a kill at any step, the installer finds no bundle or the whole bundle",
        arguments: [SimulatedDisk.Breakdown.powerCut, .kill])
    func breakdown(_ breakdown: SimulatedDisk.Breakdown) throws {
        let directories = PlugDirectories(state: "/flash/plugd", runtime: "/run/plugd")
        var complete = 0
        var isOver = false
        var steps = 0
        while !isOver {
            let disk = SimulatedDisk(seed: UInt64(steps))
            let files = FileStore(calls: disk)
            try files.makeDirectories(directories.state + "/update")
            try files.makeDirectories(directories.runtime)
            let folder = try #require(UpdateFolder(directories, files: files))
            let plug = Receiver(folder)
            var isAnswered = false
            disk.breakDown(breakdown, afterSteps: steps)
            do throws(Refusal) {
                _ = try plug.ask(.begin(bundle, size: 6, allowsOlder: true))
                for offset in [0, 2, 4] as [UInt8] {
                    _ = try plug.ask(.part(offset: UInt64(offset), [offset, offset + 1]))
                }
                isAnswered = true
            } catch {
                #expect(error.code == .storageFailed)
            }
            isOver = disk.breakdown == nil
            switch breakdown {
            case .powerCut: disk.boot()
            case .kill: disk.startProcess()
            }
            let found = try files.readIfPresent(directories.state + "/update/bundle.raucb", limit: 10)
            #expect(found == nil || found == [0, 1, 2, 3, 4, 5])
            #expect(found != nil || !isAnswered)
            complete += found == nil ? 0 : 1
            steps += 1
        }
        #expect((1..<steps).contains(complete))
    }

    @Test("Two requests at the same time are refused") func twoAtOnce() throws {
        var reception = UpdateReception()
        _ = try reception.begin(.ask, relayOn: false)
        #expect(throws: Refusal.self) { try reception.begin(.ask, relayOn: false) }
    }

    @Test("The plug restarts only with an installed system, and on request not before its relay is off")
    func restarted() throws {
        let plug = Receiver(try folder())
        func asksForRestart() -> Bool { FileStamp(of: directory.directories.runtime + "/restart") != nil }
        #expect(throws: Refusal.self) { try plug.ask(.restart(whenOff: false)) }
        try write("system=1\nphase=installed\nnew=2\n")
        let report = try plug.ask(.restart(whenOff: true), relayOn: true)
        #expect(report == UpdateReport(system: "1", newSystem: "2", phase: .installed, restartsWhenOff: true))
        #expect(try !plug.restarts(relayOn: true) && !asksForRestart())
        #expect(try plug.restarts(relayOn: false) && asksForRestart())
        #expect(try !plug.restarts(relayOn: false))
        try FileStore().removeIfPresent(directory.directories.runtime + "/restart")
        _ = try plug.ask(.restart(whenOff: true), relayOn: true)
        #expect(try !plug.ask(.cancel).restartsWhenOff)
        #expect(try !plug.restarts(relayOn: false))
        _ = try plug.ask(.restart(whenOff: true), relayOn: false)
        #expect(asksForRestart())
    }

    @Test("A restart that waits until the relay is off still waits after plugd has restarted") func waiting() throws {
        let folder = try folder()
        try write("system=1\nphase=installed\nnew=2\n")
        #expect(try Receiver(folder).ask(.restart(whenOff: true), relayOn: true).restartsWhenOff)
        #expect(try Receiver(folder).ask(.ask).restartsWhenOff)
        #expect(try Receiver(folder).restarts(relayOn: false))
        #expect(try !Receiver(folder).restarts(relayOn: false))
        _ = try Receiver(folder).ask(.restart(whenOff: true), relayOn: true)
        _ = try Receiver(folder).ask(.cancel)
        #expect(try !Receiver(folder).ask(.ask).restartsWhenOff)
    }

    @Test(
        "The state of the installer is read",
        arguments: [
            ("", UpdateReport(phase: .unknown)),
            ("board=b\nsystem=1.0\nphase=idle", UpdateReport(board: "b", system: "1.0", phase: .idle)),
            ("phase=installing\nnew=2\npercent=40\n", UpdateReport(newSystem: "2", phase: .installing(percent: 40))),
            ("phase=installing\npercent=-7\n", UpdateReport(phase: .installing(percent: 0))),
            ("phase=trying\nnew=2", UpdateReport(newSystem: "2", phase: .trying)),
            ("phase=failed\ndetail=a=b", UpdateReport(phase: .failed("a=b"))),
            ("phase=returned\ndetail=no address", UpdateReport(phase: .returned("no address"))),
            (
                "phase=failed\ndetail=" + String(repeating: "ü", count: 300),
                UpdateReport(phase: .failed(String(repeating: "ü", count: 127)))
            ),
            ("=\n==\nphase\nphase=nonsense", UpdateReport(phase: .unknown)),
        ])
    func installer(_ text: String, _ report: UpdateReport) throws {
        let folder = try folder()
        try write(text)
        #expect(try folder.perform(.report).get() == report)
    }
}
