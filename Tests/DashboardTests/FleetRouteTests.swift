import Fleet
import FleetService
import Foundation
import PlugModel
import Synchronization
import Testing

@testable import Dashboard

/// A database and a broker with two houses. The database returns all rows for every query, regardless of the user's
/// rights.
private final class MadeUpFleet: FleetSource {
    let people: [String: [(Role, String)]]
    let queries = Mutex<[FleetQuery]>([])
    let orders = Mutex<[FleetOrder]>([])
    let outcome: FleetOutcome
    let fault: FleetFault?

    init(
        _ people: [String: [(Role, String)]], outcome: FleetOutcome = .done(on: true, event: 42),
        fault: FleetFault? = nil
    ) {
        (self.people, self.outcome, self.fault) = (people, outcome, fault)
    }

    func rights(of name: String?) -> FleetRights {
        var rights = FleetRights()
        for (role, houses) in people[name ?? "plugctl"] ?? [] {
            if let houses = FleetRights.Houses(houses) { rights.add(role, in: houses) }
        }
        return rights
    }

    func rows(_ query: FleetQuery) async throws(FleetFault) -> [[String?]] {
        queries.withLock { $0.append(query) }
        if let fault { throw fault }
        if query.sql.contains("energy_days") && !query.sql.contains("chosen") {
            return [["2026-11", "elm-5", nil, nil, "1500", "0"]]
        }
        if query.sql.contains("chosen") {
            return ["elm-5", "oak-1"].map {
                [$0, #"{"city":"Bonn"}"#, "2", "1", "0", "12.5", "900", "2026-11-25T03:02:54Z"]
            }
        }
        return ["elm-5", "oak-1"].map {
            [$0, "{}", "00000000000a", "<b>Lamp</b>", "t", "2026-11-25T03:02:54Z", "t", nil, "12.5", "1000", nil]
        }
    }

    func carryOut(_ order: FleetOrder) async -> FleetOutcome {
        orders.withLock { $0.append(order) }
        return outcome
    }
}

@Suite struct FleetRouteTests {
    private let owners = "correct horse battery", viewers = "just looking thanks", users = "may switch the lamp"
    private let people: [String: [(Role, String)]] = [
        "owner": [(.owner, "*")], "Anna": [(.user, "elm-*"), (.viewer, "ash")], "Hallway": [(.user, "oak-1")],
        "plugctl": [(.viewer, "oak-1")],
    ]

    private func with(_ fleet: MadeUpFleet?, _ body: (DashboardAtWork) async throws -> Void) async throws {
        let change = { (settings: inout DashboardSettings) in
            try settings.password.set(owners)
            try settings.password.set(users, named: "Anna", role: .user)
            try settings.password.set(viewers, named: "Hallway", role: .viewer)
        }
        try await DashboardAtWork.run(change, fleet: fleet, body)
    }

    private func login(_ password: String) -> String {
        "Authorization: Basic \(Data("me:\(password)".utf8).base64EncodedString())"
    }

    private func status(_ answer: String) -> Int? {
        answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst(9).prefix(3)) : nil
    }

    private func turn(
        _ dashboard: DashboardAtWork, _ house: String, as password: String, plug: String = "00000000000a",
        body: String = #"{"on":true}"#
    ) async throws -> String {
        try await dashboard.ask(
            "POST", "/api/v1/fleet/houses/\(house)/plugs/\(plug)/relay", login(password),
            "Content-Type: application/json",
            body: body)
    }

    /// Attack class: a user of one house reads or switches another house.
    @Test("A role applies only to its houses")
    func aRoleHoldsInItsHousesAlone() async throws {
        let fleet = MadeUpFleet(people)
        try await with(fleet) { dashboard in
            for path in ["/api/v1/fleet", "/api/v1/fleet/plugs", "/api/v1/fleet/plugs?house=oak-1"] {
                let anna = try await dashboard.ask("GET", path, login(users))
                #expect(status(anna) == 200 && anna.contains("elm-5") && !anna.contains("oak-1"), "\(anna)")
                let owner = try await dashboard.ask("GET", path, login(owners))
                #expect(owner.contains("elm-5") && owner.contains("oak-1"), "\(owner)")
            }
            // The query is limited to the user's houses.
            let values = fleet.queries.withLock { $0.last { $0.values.first != "{}" } }?.values
            #expect(values?[0] == #"{"ash"}"# && values?[1] == #"{"elm-"}"#, "\(values ?? [])")
            #expect(try await status(turn(dashboard, "elm-5", as: users)) == 200)
            let foreign = try await turn(dashboard, "oak-1", as: users)
            #expect(status(foreign) == 404 && foreign.contains("unknown house"), "\(foreign)")
            let seen = try await turn(dashboard, "ash", as: users)
            #expect(status(seen) == 403 && seen.contains("a viewer of ash may not"), "\(seen)")
            #expect(try await status(turn(dashboard, "oak-1", as: owners)) == 200)
            #expect(fleet.orders.withLock { $0.map(\.house) } == ["elm-5", "oak-1"])
        }
    }

    /// The rights in fleet.toml cannot exceed the rights of the password.
    @Test("A viewer's password cannot switch plugs of any house")
    func aViewersPasswordSwitchesNowhere() async throws {
        let fleet = MadeUpFleet(people)
        try await with(fleet) { dashboard in
            let answer = try await turn(dashboard, "oak-1", as: viewers)
            #expect(status(answer) == 403 && answer.contains("a viewer may not turn plugs of other houses on or off"))
            #expect(fleet.orders.withLock { $0.isEmpty })
            #expect(try await dashboard.ask("GET", "/api/v1/fleet", login(viewers)).contains("oak-1"))
            // At the local socket, fleet.toml's entry for plugctl applies.
            let local = try await dashboard.sayLocally(DashboardAtWork.request("GET", "/api/v1/fleet", []))
            #expect(local.contains("oak-1") && !local.contains("elm-5"))
            let body = #"{"on":true}"#
            let refused = try await dashboard.sayLocally(
                DashboardAtWork.request(
                    "POST", "/api/v1/fleet/houses/oak-1/plugs/00000000000a/relay", ["Content-Type: application/json"],
                    body))
            #expect(status(refused) == 403, "\(refused)")
        }
    }

    @Test("The session reports whether the user sees other houses")
    func theSessionTellsWhetherThereAreOtherHouses() async throws {
        try await with(MadeUpFleet(["Anna": [(.viewer, "*")]])) { dashboard in
            func told(_ password: String) async throws -> Bool {
                let answer = try await dashboard.ask(
                    "POST", "/api/v1/session", "Content-Type: application/json", body: "{\"password\": \"\(password)\"}"
                )
                let line = try #require(
                    answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") })
                let cookie = "Cookie: " + line.dropFirst(12).prefix { $0 != ";" }
                return try await dashboard.ask("GET", "/api/v1/session", cookie).contains(#""fleet":true"#)
            }
            let (usersSee, ownersSee) = (try await told(users), try await told(owners))
            #expect(usersSee)
            #expect(!ownersSee, "the owner of the dashboard has no rights in fleet.toml")
        }
    }

    @Test("Without a fleet configuration, the fleet routes are answered with 404")
    func withoutAFleetThereIsNone() async throws {
        try await with(nil) { dashboard in
            for path in ["/api/v1/fleet", "/api/v1/fleet/plugs", "/api/v1/fleet/energy"] {
                let answer = try await dashboard.ask("GET", path, login(owners))
                #expect(status(answer) == 404 && answer.contains("fleet.toml"), "\(answer)")
            }
            #expect(try await status(turn(dashboard, "elm-5", as: owners)) == 404)
        }
    }

    @Test(
        "Query parameters of fleet routes are validated",
        arguments: [
            ("/api/v1/fleet?label=x", 400), ("/api/v1/fleet?limit=0", 422), ("/api/v1/fleet?limit=1001", 422),
            ("/api/v1/fleet/plugs?state=gone", 400), ("/api/v1/fleet/plugs?search=%00", 422),
            ("/api/v1/fleet/energy?from=2026-13", 400), ("/api/v1/fleet/energy?from=2026-12&to=2026-11", 422),
            ("/api/v1/fleet/energy?by=month", 400), ("/api/v1/fleet?x=1", 400),
            ("/api/v1/fleet/energy?to=2026-11", 200), ("/api/v1/fleet?search=", 200),
        ])
    func whatIsAskedForIsLookedAt(_ path: String, _ expected: Int) async throws {
        try await with(MadeUpFleet(people)) { dashboard in
            let answer = try await dashboard.ask("GET", path, login(owners))
            #expect(status(answer) == expected, "\(answer)")
        }
    }

    @Test(
        "An order is answered with the HTTP status for its outcome",
        arguments: [
            (FleetOutcome.done(on: true, event: nil), 200), (.refused("overload"), 409), (.unanswered, 503),
            (.unreachable("connection refused"), 503),
        ])
    func whatBecameOfAnOrderIsTold(_ outcome: FleetOutcome, _ expected: Int) async throws {
        try await with(MadeUpFleet(people, outcome: outcome)) { dashboard in
            let answer = try await turn(dashboard, "elm-5", as: owners)
            #expect(status(answer) == expected, "\(answer)")
            for (plug, body, wanted) in [("lamp", #"{"on":true}"#, 404), ("00000000000a", #"{"on":1}"#, 400)] {
                #expect(try await status(turn(dashboard, "elm-5", as: owners, plug: plug, body: body)) == wanted)
            }
        }
    }

    @Test("A database failure is answered with its hint")
    func aDatabaseThatDoesNotAnswerIsToldWithItsHint() async throws {
        try await with(MadeUpFleet(people, fault: FleetFault("the database does not answer", hint: "check it"))) {
            dashboard in
            let answer = try await dashboard.ask("GET", "/api/v1/fleet", login(owners))
            #expect(status(answer) == 503 && answer.contains("check it"), "\(answer)")
        }
    }
}
