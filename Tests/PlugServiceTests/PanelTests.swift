import Foundation
import LinuxSystem
import NIOCore
import NIOPosix
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PlugService

/// Refuses loads, answers a reset with two lines, and answers every other request with the line of the request.
private actor Echo: PanelOwner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    nonisolated let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()

    func perform(_ request: PanelRequest) throws -> String {
        if case .load = request { throw PanelError("nothing can be plugged in") }
        return request == .reset ? "two\nlines" : request.line
    }
}

@Suite(.timeLimit(.minutes(1))) struct PanelTests {
    @Test(
        "Requests are parsed from their lines and written as the same lines",
        arguments: [
            ("press single", PanelRequest.press(.single)), ("press double", .press(.double)),
            ("press long", .press(.long)),
            ("press hold 5000", .hold(5000)), ("calibrate 100.0", .calibrate(KnownLoad(power: 100))),
            ("calibrate 100.5 231.0", .calibrate(KnownLoad(power: 100.5, voltage: 231))),
            ("code ABCD-EFGH-IJKL-MNOP", .code(try! SetupCode(text: "ABCD-EFGH-IJKL-MNOP"))),
            ("load kettle on", .load("kettle on")), ("load 60 W", .load("60 W")), ("status", .status),
            ("reset", .reset),
            ("rotate-key", .rotateKey(now: false)), ("rotate-key now", .rotateKey(now: true)),
        ])
    func requests(line: String, request: PanelRequest) throws {
        #expect(try PanelRequest(line: line) == request)
        #expect(request.line == line)
    }

    @Test(
        "An invalid request is rejected with a message",
        arguments: [
            (
                "press",
                "unknown request \"press\"; the requests are press KIND, press hold MILLISECONDS, load TEXT, calibrate WATTS [VOLTS], status, controllers, remove FINGERPRINT, code CODE, rotate-key [now], reset"
            ),
            ("press twice", "a button press must be single, double, long or hold, not \"twice\""),
            ("press single now", "a button press must be single, double, long or hold, not \"single now\""),
            ("code ABCD-EFGH", "a setup code has 16 letters and digits, this has 8"),
            ("press hold", "a button press must be single, double, long or hold, not \"hold\""),
            ("press hold 0", "a button can be held for 1 to 60000 milliseconds, not \"0\""),
            ("press hold 60001", "a button can be held for 1 to 60000 milliseconds, not \"60001\""),
            ("press hold +5", "a button can be held for 1 to 60000 milliseconds, not \"+5\""),
            ("calibrate many", "a load must be WATTS or WATTS VOLTS, not \"many\""),
            ("calibrate 100 nan", "a load must be WATTS or WATTS VOLTS, not \"100 nan\""),
            (
                "load",
                "unknown request \"load\"; the requests are press KIND, press hold MILLISECONDS, load TEXT, calibrate WATTS [VOLTS], status, controllers, remove FINGERPRINT, code CODE, rotate-key [now], reset"
            ),
            (
                "status now",
                "unknown request \"status now\"; the requests are press KIND, press hold MILLISECONDS, load TEXT, calibrate WATTS [VOLTS], status, controllers, remove FINGERPRINT, code CODE, rotate-key [now], reset"
            ),
            (
                "",
                "unknown request \"\"; the requests are press KIND, press hold MILLISECONDS, load TEXT, calibrate WATTS [VOLTS], status, controllers, remove FINGERPRINT, code CODE, rotate-key [now], reset"
            ),
        ])
    func whatIsNoRequestIsSaid(line: String, message: String) {
        let error = #expect(throws: PanelError.self) { try PanelRequest(line: line) }
        #expect(error?.description == message)
    }

    private func serving(_ body: (PlugDirectories) async throws -> Void) async throws {
        let directory = TestFolder()
        try directory.write("", to: "lock")
        let owner = Echo()
        let server = try await PanelServer.start(
            path: directory.directories.panelSocket, on: owner.loop, owner: owner)
        try await body(directory.directories)
        await server.stop()
    }

    private func refusal(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("Requests are answered or refused") func requestsAreAnsweredAndRefused() async throws {
        try await serving { directory async throws in
            #expect(try await PanelClient.ask(.press(.long), at: directory) == "press long")
            #expect(try await PanelClient.ask(.status, at: directory) == "status")
            let message = await refusal { _ = try await PanelClient.ask(.load("kettle"), at: directory) }
            #expect(message == "nothing can be plugged in")
        }
    }

    @Test("A line that is too long is refused, and the next one is served", arguments: [4097 - 5, 5000, 100_000])
    func aLineThatIsTooLongIsRefusedAndTheNextIsServed(length: Int) async throws {
        try await serving { directory async throws in
            let load = String(repeating: "x", count: length)
            let message = await refusal { _ = try await PanelClient.ask(.load(load), at: directory) }
            #expect(message == "a line is longer than 4096 bytes")
            #expect(try await PanelClient.ask(.status, at: directory) == "status")
        }
    }

    @Test("A line of the maximum length is served") func theLongestLineIsServed() async throws {
        try await serving { directory async throws in
            let load = String(repeating: "x", count: 4096 - 5)
            let message = await refusal { _ = try await PanelClient.ask(.load(load), at: directory) }
            #expect(message == "nothing can be plugged in")
        }
    }

    @Test("A request to a plug that is starting waits for its socket")
    func aStartingPlugIsWaitedFor() async throws {
        let directory = TestFolder()
        let lock = try DirectoryLock(directory.path)
        let answer = Task { try await PanelClient.ask(.status, at: directory.directories) }
        try await Task.sleep(for: .milliseconds(100))
        let owner = Echo()
        try directory.write("", to: "run/lock")
        let server = try await PanelServer.start(
            path: directory.directories.panelSocket, on: owner.loop, owner: owner)
        #expect(try await answer.value == "status")
        await server.stop()
        withExtendedLifetime(lock) {}
    }

    @Test("Without a running plug, the hint explains how to start one")
    func whereNoPlugRunsTheHintSaysHowToStartOne() async {
        let directory = TestFolder()
        let message = await refusal { _ = try await PanelClient.ask(.status, at: directory.directories) }
        #expect(
            message?.hasPrefix("plugd does not answer at \(directory.path)/run/panel.sock: No such file or directory\n")
                == true)
        #expect(message?.hasSuffix("or use the --state and --runtime of the running plugd") == true)
    }

    @Test("A socket path that is too long is rejected before any attempt")
    func aPathThatNoSocketTakesIsSaidBeforeAnythingIsTried() async throws {
        let folder = TestFolder()
        let path = folder.path + "/" + String(repeating: "x", count: 107 - folder.path.utf8.count)
        let owner = Echo()
        let message = await refusal { _ = try await PanelServer.start(path: path, on: owner.loop, owner: owner) }
        #expect(
            message == """
                the path of the panel socket has 108 bytes, but at most 107 are possible: \(path)
                hint: choose a shorter --runtime directory
                """)
    }

    @Test("A regular file at the socket's path is kept") func aFileInTheSocketsPlaceIsLeftAlone() async throws {
        let directory = TestFolder()
        try directory.write("", to: "run/panel.sock")
        let owner = Echo()
        let path = directory.directories.panelSocket
        #expect(await refusal { _ = try await PanelServer.start(path: path, on: owner.loop, owner: owner) } != nil)
        #expect(directory.text("run/panel.sock") == "")
    }

    @Test("An answer of several lines arrives completely") func anAnswerOfSeveralLinesArrivesWhole() async throws {
        try await serving { plug async throws in
            #expect(try await PanelClient.ask(.reset, at: plug) == "two\nlines")
        }
    }

    @Test("Networks are reported as JSON") func networksAreToldAsJSON() {
        let lease = PlugNetwork.Lease(
            address: "192.0.2.9", server: "192.0.2.1", router: "192.0.2.254", expires: .zero + .seconds(90))
        var network = PlugNetwork(
            name: "eth\"0\\\u{7}", isManaged: true, reason: "why", hardwareAddress: "02:00:00:00:00:01",
            addresses: ["192.0.2.9", "fe80::1"], linkLocal: "169.254.7.8", lease: lease, conflicts: 2)
        #expect(
            network.json(now: .zero + .seconds(30)).text
                == #"{"name":"eth\"0\\\u0007","role":"manage","reason":"why","hardwareAddress":"02:00:00:00:00:01","#
                + #""addresses":["192.0.2.9","fe80::1"],"conflicts":2,"linkLocal":"169.254.7.8","#
                + #""lease":{"address":"192.0.2.9","server":"192.0.2.1","router":"192.0.2.254","expiresIn":60}}"#)
        network = PlugNetwork(name: "wlan0", isManaged: false, reason: "why", hardwareAddress: "")
        #expect(
            network.json(now: .zero).text
                == #"{"name":"wlan0","role":"observe","reason":"why","hardwareAddress":"","addresses":[],"conflicts":0}"#
        )
    }

    @Test("A changed setup code is in flash before it is confirmed")
    func anotherSetupCodeIsInFlashWhenItIsAnswered() async throws {
        let log = CollectedLog()
        let plug = try await RunningPlug(journal: log)
        let code = try SetupCode(text: "QRST-UVWX-YZ23-4567")
        #expect(try await plug.ask(.code(code)) == "changed")
        #expect(plug.directory.text("changed-code") == "\(code.text)\n\(code.text)\n")
        #expect(await plug.service.machine.access.code == code)
        #expect(!log.text.contains("QRST"))
        // A directory blocks the path of the next write.
        try FileManager.default.createDirectory(
            atPath: plug.directory.path + "/changed-code.new/in", withIntermediateDirectories: true)
        let message = await refusal { _ = try await plug.ask(.code(SetupCode(text: "AAAA-BBBB-CCCC-DDDD"))) }
        #expect(message?.contains("flash cannot be written") == true)
        #expect(await plug.service.machine.access.code == code)
        await plug.stop()
    }

    @Test("The plug answers status and load requests") func thePlugsOwnAnswers() async throws {
        let plug = try await RunningPlug()
        let status = try await plug.ask(.status)
        #expect(status.hasPrefix("{\"id\":\"") && status.hasSuffix("}"))
        #expect(status.contains("\"relay\":\"off\"") && status.contains("\"controllers\":0"))
        #expect(try await plug.ask(.load("kettle on")) == "kettle on")
        let message = await refusal { _ = try await plug.ask(.load("submarine")) }
        #expect(message?.contains("\"submarine\" is not a valid load") == true)
        await plug.stop()
    }
}
