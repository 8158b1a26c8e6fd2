import Appliance
import Foundation
import LinuxSystem
import Logging
import NIOCore
import NIOPosix
import PlugHardware
import PlugModel
import PlugProtocol
import PlugTransport
import ProtocolCore
import Storage
import TestSupport
import Testing

@testable import PlugClient
@testable import PlugService

/// A plug like `plugd` and a controller like `plugctl` on real sockets.
private final class PairedHouse: Sendable {
    private let folder = TestFolder()
    var directory: String { folder.path }
    let service: PlugService
    let client: PlugClient
    let addresses: [SocketAddress]
    private let listener: Listener
    private let logger: Logger
    private let identity = TransportIdentity()

    /// Creates both sides.
    ///
    /// - Parameters:
    ///   - plug: The state directory of the plug; nil for a new plug.
    ///   - pairedIn: The controller's directory; nil for a new controller.
    init(plug: String? = nil, pairedIn: String? = nil) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let parts = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })
        logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let settings = PlugSettings(
            name: "Lamp", directories: PlugDirectories(state: plug ?? folder.path + "/plug"), interfaces: ["lo"],
            appliance: ApplianceConfiguration(), parts: parts.parts(dimmable: false), simulated: parts)
        service = try PlugService(settings, on: loop, logger: logger)
        await service.start()
        var limits = AdmissionLimits()
        // Parallel tests may occupy the processors for seconds.
        limits.handshakeTime = .seconds(50)
        listener = try await Listener.start(
            on: loop, identity: try #require(service.identity), loopbackOnly: true, limits: limits, owner: service)
        addresses = [try SocketAddress(ipAddress: "127.0.0.1", port: Int(listener.port))]
        client = PlugClient(
            name: "Desk", identity: identity,
            paired: PairedPlugs(directory: pairedIn ?? folder.path + "/desk"),
            interfaces: ["lo"], logger: logger)
    }

    var code: SetupCode { get throws { try PlugLabel(state: directory + "/plug").code } }

    func pair(
        code: SetupCode, replacing: Bool = false, claiming id: PlugID? = nil
    ) async throws -> PairedPlugs.Entry {
        try await client.pair("Lamp", code: code, replacing: replacing, at: addresses, claiming: id)
    }

    /// Follows like ``PlugClient/follow(_:id:after:known:stateOptions:)``, but without discovery.
    func follow(expecting key: PublicKey) async -> FollowedPlug {
        let machine = PlugFollower(controllerName: "Desk", cursor: .now, stateOptions: StateOptions(), seed: 1)
        let plug = FollowedPlug(name: "Lamp", machine: machine, eventLoop: client.eventLoop) { [self] followed in
            try await client.dialer.current.dialer.connect(
                to: addresses, expecting: key, on: client.eventLoop, owner: followed)
        }
        await plug.locate()
        return plug
    }

    /// The address of the plug's listener, which is not announced.
    var address: PlugAddress { get throws { try PlugAddress("127.0.0.1:\(listener.port)") } }

    /// Creates a client with the pairings of the other one, for the plug at the address.
    func client(at address: PlugAddress?) -> PlugClient {
        PlugClient(
            name: "Desk", identity: identity, paired: client.paired, interfaces: ["lo"], address: address,
            logger: logger)
    }

    func stop() async {
        await client.stop()
        await listener.stop()
        await service.stop()
    }
}

@Suite(.timeLimit(.minutes(1))) struct PairedHouseTests {
    private let wrong = try! SetupCode(text: "AAAA-AAAA-AAAA-AAAA")

    private func refusal(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test("A controller that proves the code is paired and pins the plug's key")
    func whoProvesTheCodeIsLetInAndPinsThePlugsKey() async throws {
        let house = try await PairedHouse()
        let entry = try await house.pair(code: house.code)
        #expect(entry.name == "Lamp" && entry.key == house.service.identity?.publicKey)
        #expect(try house.client.paired.all() == [entry])
        let plug = await house.follow(expecting: entry.key)
        let result = try await plug.send(turnOn)
        #expect(result.state.relayOn)
        let controllers = try await plug.controllers()
        #expect(controllers?.map(\.name) == ["Desk"] && controllers?.first?.isAsker == true)
        await plug.stop()
        await house.stop()
    }

    @Test("A wrong code does not pair, and the right code afterwards does")
    func aWrongCodePairsNobodyAndTheRightOneDoesAfterIt() async throws {
        let house = try await PairedHouse()
        let error = await refusal { _ = try await house.pair(code: wrong) }
        #expect(error as? PairingError == .wrongCode)
        #expect(try house.client.paired.all() == [])
        _ = try await house.pair(code: house.code)
        #expect(try house.client.paired.all().count == 1)
        await house.stop()
    }

    @Test("A restarted plug that is already paired has a closed pairing window")
    func aPlugThatKnowsSomebodyHasItsWindowClosed() async throws {
        let house = try await PairedHouse()
        _ = try await house.pair(code: house.code)
        // A new plug accepts pairing for ten minutes. After a restart it does not, because it is already paired.
        await house.service.stop()
        let again = try await PairedHouse(plug: house.directory + "/plug")
        let error = await refusal { _ = try await again.pair(code: house.code) }
        #expect(error as? PairingError == .windowClosed)
        #expect(try again.client.paired.all() == [])
        await again.stop()
        await house.stop()
    }

    @Test("A plug with a different key is reported and receives no message")
    func anotherKeyBehindTheNameIsToldAndNothingIsSaidToIt() async throws {
        let house = try await PairedHouse()
        _ = try await house.pair(code: house.code)
        let plug = await house.follow(expecting: TransportIdentity().publicKey)
        await #expect(throws: Refusal.self) { try await plug.send(turnOn) }
        for await case .disconnected(let reason, _) in plug.reports.map(\.update) {
            guard case .distrusted(let words) = reason else {
                Issue.record("\(reason)")
                break
            }
            #expect(words.hasPrefix("the device has a different key than the paired plug\nhint: "))
            break
        }
        #expect(await house.service.machine.connections.isEmpty)
        await plug.stop()
        await house.stop()
    }

    @Test("A controller that is not paired is refused") func whoIsNotPairedIsRefused() async throws {
        let house = try await PairedHouse()
        let plug = await house.follow(expecting: try #require(house.service.identity).publicKey)
        let error = await refusal { try await plug.send(turnOn) }
        #expect((error as? Refusal)?.code == .notPaired)
        await plug.stop()
        await house.stop()
    }

    @Test("After a factory reset by a controller the plug has no pairings, and the controller keeps the old key pinned")
    func aControllerResetsThePlugAndBothForgetEachOther() async throws {
        let house = try await PairedHouse()
        let entry = try await house.pair(code: house.code)
        let plug = await house.follow(expecting: entry.key)
        var reports = plug.reports.makeAsyncIterator()
        while let report = await reports.next() { if case .connected = report.update { break } }
        #expect(try await plug.factoryReset() == .factoryReset)
        #expect(await house.service.isReset)
        await plug.stop()
        while await reports.next() != nil {}
        #expect(try await plug.factoryReset() == .away("the plug is not connected"))
        #expect(try await plug.controllers() == nil)
        await house.service.stop()
        let anew = try await PairedHouse(plug: house.directory + "/plug", pairedIn: house.directory + "/desk")
        #expect(anew.service.identity?.publicKey != entry.key)
        #expect(await anew.service.machine.access.controllers.all.isEmpty)
        for claimed in [nil, entry.id] {
            let error = await refusal { _ = try await anew.pair(code: house.code, claiming: claimed) }
            #expect(
                error as? PairedPlugsError == .pinned(entry, claimedBy: "Lamp"), "the id is paired with another key")
            #expect(try anew.client.paired.all() == [entry])
        }
        #expect(try await anew.pair(code: house.code, replacing: true).id == entry.id)
        #expect(try anew.client.paired.all().map(\.key) == [anew.service.identity?.publicKey])
        await anew.stop()
        await house.stop()
    }

    @Test("A plug that is not announced is paired and used at its address, given or stored")
    func address() async throws {
        let house = try await PairedHouse()
        let given = house.client(at: try house.address)
        #expect(try await given.findAnnounced("Lamp") == "Lamp")
        let entry = try await given.pair("Lamp", code: house.code)
        #expect(try await given.plug("lamp").turn(on: true).state.relayOn)
        await given.stop()
        try await house.client.paired.setAddress(house.address, of: entry.id)
        let stored = house.client(at: nil)
        let lamp = try await stored.plug("Lamp")
        #expect(lamp.id == entry.id)
        #expect(try await !lamp.turn(on: false).state.relayOn)
        #expect(try await stored.resolve("Lamp").identity.domain == PlugAddress.domain)
        await stored.stop()
        await house.stop()
    }

    @Test("A different device at the address of a paired plug is not used, and an unpaired name is refused")
    func differentDevice() async throws {
        let (house, other) = (try await PairedHouse(), try await PairedHouse())
        let entry = try await house.pair(code: house.code)
        let client = house.client(at: try other.address)
        let plug = client.follow(try await client.find("Lamp"))
        for await case .disconnected(.distrusted(let words), _) in plug.reports.map(\.update) {
            #expect(words.hasPrefix("the device has a different key than the paired plug"))
            break
        }
        #expect(await other.service.machine.connections.isEmpty)
        let missing = await refusal { _ = try await client.find("Fan") }
        #expect(missing is AddressOfUnpairedPlug)
        let error = await refusal { _ = try await client.pair("Lamp", code: wrong) }
        #expect(error as? PairingError == .wrongCode)
        #expect(try house.client.paired.all() == [entry])
        await client.stop()
        await house.stop()
        await other.stop()
    }

    @Test("A house follows a plug with a stored address until the address is removed")
    func followedAddress() async throws {
        let house = try await PairedHouse()
        let entry = try await house.pair(code: house.code)
        let client = house.client(at: nil)
        try await client.paired.setAddress(house.address, of: entry.id)
        let follower = HouseFollower(client)
        let (received, running) = follower.start()
        var updates = received.makeAsyncIterator()
        while let update = await updates.next() {
            if case .report(let report) = update, case .connected = report.update { break }
        }
        #expect(await follower.plug(named: "lamp") != nil)
        let other = try PlugAddress("127.0.0.1:1")
        try await client.paired.setAddress(nil, of: entry.id)
        await house.service.stop()
        while let update = await updates.next() { if case .lost("Lamp") = update { break } }
        try await client.paired.setAddress(other, of: entry.id)
        while let update = await updates.next() { if case .found("Lamp") = update { break } }
        running.cancel()
        while await updates.next() != nil {}
        await running.value
        await client.stop()
        await house.stop()
    }

    @Test("Work on the event loop of a stopped client is executed") func workAfterStop() async throws {
        let house = try await PairedHouse()
        let browser = house.client.browse()
        let plug = house.client.follow("Lamp")
        await house.stop()
        #expect(try await house.client.eventLoop.submit { true }.get())
        for await _ in browser {}
        for await _ in plug.reports {}
        for await _ in house.client.follow("Lamp").reports {}
        for await _ in house.client.browse() {}
    }

    @Test("A damaged list of plugs is reported before the plug is contacted")
    func aDamagedFileOfPlugsIsToldBeforeAnythingIsAskedOfThePlug() async throws {
        let house = try await PairedHouse()
        let files = FileStore()
        try files.makeDirectories(house.directory + "/desk")
        try files.replaceSecret(house.directory + "/desk/plugs", with: Array("nonsense\n".utf8))
        let error = await refusal { _ = try await house.client.pair("Lamp", code: house.code) }
        #expect(error as? PairedPlugsError == .damaged(path: house.directory + "/desk/plugs", line: 1))
        #expect(await house.service.machine.access.controllers.all.isEmpty)
        await house.stop()
    }
}
