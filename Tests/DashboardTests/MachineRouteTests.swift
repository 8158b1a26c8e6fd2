import Foundation
import PlugModel
import ProtocolCore
import Testing

@testable import Dashboard
@testable import HostSleep

@Suite struct MachineRouteTests {
    private static let file = """
        ["Media Server"]
        mac = "00:11:22:33:44:55"
        address = "192.0.2.7"
        password = "0a:0b:0c:0d:0e:0f"
        [Printer]
        mac = "00:11:22:33:44:66"
        """
    private let owners = "correct horse battery", viewers = "just looking thanks", users = "may switch the lamp"
    private let json = "Content-Type: application/json"
    private let machines: KnownMachines

    init() throws { machines = try KnownMachines(Array(Self.file.utf8), file: "machines.toml") }

    private func status(_ answer: String) -> Int? {
        answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst(9).prefix(3)) : nil
    }

    private func login(_ password: String) -> String {
        "Authorization: Basic \(Data("me:\(password)".utf8).base64EncodedString())"
    }

    private func withPasswords(_ body: (DashboardAtWork) async throws -> Void) async throws {
        let change = { (settings: inout DashboardSettings) in
            try settings.password.set(owners)
            try settings.password.set(viewers, named: "Hallway", role: .viewer)
            try settings.password.set(users, named: "Anna", role: .user)
        }
        try await DashboardAtWork.run(change, house: NoHouse(machines: machines), body)
    }

    /// Attack class: the password of a magic packet is read from the list, and then wakes the machine from anywhere.
    @Test("The list has the addresses of the machines, and no passwords")
    func machinesHideThePassword() async throws {
        try await withPasswords { dashboard in
            let path = "/api/v1/machines"
            var answers = [try await dashboard.sayLocally(DashboardAtWork.request("GET", path, []))]
            for password in [owners, viewers, users] {
                answers.append(try await dashboard.ask("GET", path, login(password)))
            }
            let listed = [
                #"[{"addresses":["192.0.2.7"],"learned":false,"mac":"00:11:22:33:44:55","machine":"Media Server"},"#,
                #"{"addresses":[],"learned":false,"mac":"00:11:22:33:44:66","machine":"Printer"}]"#,
            ]
            for answer in answers {
                #expect(status(answer) == 200 && answer.contains(listed.joined()), "\(answer)")
                #expect(!answer.contains("0a:0b") && !answer.contains("password"))
            }
        }
    }

    @Test("An owner and a user may wake a machine, and a viewer may not")
    func usersWake() async throws {
        try await withPasswords { dashboard in
            let path = "/api/v1/machines/printer/wake"
            for password in [owners, users] {
                let woken = try await dashboard.ask("POST", path, login(password), json, body: "{}")
                #expect(
                    status(woken) == 200 && woken.contains(#"{"machine":"Printer","outcome":"asleep"}"#), "\(woken)")
            }
            let refused = try await dashboard.ask("POST", path, login(viewers), json, body: "{}")
            #expect(status(refused) == 403)
            #expect(refused.contains("a viewer may not wake machines; an owner of the dashboard may allow it"))
        }
    }

    @Test("An unknown machine is answered with the most similar name")
    func unknownMachine() async throws {
        try await DashboardAtWork.run(house: NoHouse(machines: machines)) { dashboard in
            let near = try await dashboard.ask("POST", "/api/v1/machines/Media%20Sever/wake", json, body: "{}")
            #expect(status(near) == 404 && near.contains(#"did you mean \"Media Server\"?"#), "\(near)")
            let other = try await dashboard.ask("POST", "/api/v1/machines/Refrigerator/wake", json, body: "{}")
            #expect(status(other) == 404 && other.contains("/api/v1/machines lists the known machines"), "\(other)")
            #expect(try await status(dashboard.ask("POST", "/api/v1/machines/%ff/wake", json, body: "{}")) == 400)
            #expect(
                try await status(dashboard.ask("POST", "/api/v1/machines/Printer/wake", json, body: "{\"on\":true}"))
                    == 400)
        }
    }

    @Test("A machine that is being woken is not woken a second time")
    func oneWakeAtATime() async throws {
        let (starts, started) = AsyncStream.makeStream(of: String.self)
        let (gate, gateKeeper) = AsyncStream.makeStream(of: String.self)
        let house = NoHouse(machines: machines) { machine in
            started.yield(machine.name)
            for await _ in gate {}
            return .awake(after: .seconds(4.5))
        }
        try await DashboardAtWork.run(house: house) { dashboard in
            defer { gateKeeper.finish() }
            let path = "/api/v1/machines/Media%20Server/wake"
            async let first = dashboard.ask("POST", path, json, body: "{}")
            var iterator = starts.makeAsyncIterator()
            #expect(await iterator.next() == "Media Server")
            let second = try await dashboard.ask("POST", path, json, body: "{}")
            #expect(status(second) == 409 && second.contains("Media Server is already being woken"), "\(second)")
            gateKeeper.finish()
            let answer = try await first
            #expect(status(answer) == 200, "\(answer)")
            #expect(answer.contains(#"{"machine":"Media Server","outcome":"awake","seconds":4.5}"#), "\(answer)")
            // The next wake may start when the first has ended.
            #expect(try await status(dashboard.ask("POST", path, json, body: "{}")) == 200)
        }
    }

    @Test("A magic packet that no interface can send is answered with the reason")
    func faults() async throws {
        let house = NoHouse(machines: machines) { _ in throw WakeFault(description: "no interface is up") }
        try await DashboardAtWork.run(house: house) { dashboard in
            let answer = try await dashboard.ask("POST", "/api/v1/machines/Printer/wake", json, body: "{}")
            #expect(status(answer) == 503 && answer.contains("Printer: no interface is up"), "\(answer)")
        }
    }

    @Test("The eleventh wake within a minute is refused, with the time until the next one may start")
    func wakesHaveALimit() {
        func at(_ seconds: Int) -> Instant { Instant.zero + .seconds(seconds) }
        var limiter = WakeLimiter()
        let first = (0..<WakeLimiter.limit).map { limiter.begin("Machine \($0)", now: at($0)) }
        #expect(first.count == 10 && first.allSatisfy { $0 == nil })
        let again = limiter.begin("Machine 0", now: at(20))
        #expect(again == .inProgress)
        let other = limiter.begin("Printer", now: at(20))
        #expect(other == .tooMany(wait: .seconds(40)))
        limiter.end("Machine 0")
        let early = limiter.begin("Machine 0", now: at(59))
        #expect(early == .tooMany(wait: .seconds(1)))
        let late = limiter.begin("Machine 0", now: at(60))
        #expect(late == nil)
    }
}
