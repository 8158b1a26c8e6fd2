import PlugModel
import Testing

@testable import Fleet

@Suite struct FleetQueryTests {
    private func rights(_ grants: (Role, String)...) -> FleetRights {
        var rights = FleetRights()
        for (role, houses) in grants { rights.add(role, in: FleetRights.Houses(houses)!) }
        return rights
    }

    @Test("The highest role that matches a house applies") func theHighestRoleOfAHouseCounts() {
        let rights = rights((.viewer, "*"), (.user, "elm-*"), (.owner, "elm-5"))
        #expect(rights.role(in: "elm-5") == .owner && rights.role(in: "elm-55") == .user)
        #expect(rights.role(in: "oak") == .viewer && rights.role(in: "Elm-5") == .viewer)
        #expect(rights.maySwitch(in: "elm-7") && !rights.maySwitch(in: "oak"))
        let few = self.rights((.user, "elm-5"))
        #expect(few.role(in: "elm-55") == nil && few.role(in: "elm") == nil && !few.maySwitch(in: "elm-"))
        #expect(FleetRights().role(in: "") == nil && FleetRights().isEmpty)
        // U+00E9 and e with U+0301 are equal in Swift, but not in the database.
        #expect(self.rights((.user, "caf\u{E9}")).role(in: "cafe\u{301}") == nil)
    }

    @Test(
        "Invalid house patterns are rejected", arguments: ["", "a*b", "**", "*a", String(repeating: "x", count: 101)])
    func housesThatNobodyCanMean(_ written: String) { #expect(FleetRights.Houses(written) == nil) }

    /// Attack class: SQL injection.
    @Test("User input is only in the values of a statement, never in its SQL")
    func whatSomebodyWroteStandsInValuesOnly() {
        let evil = "'; DROP TABLE smartplug.houses; -- \" \\ {} , $1"
        let filter = FleetFilter(
            houses: [evil], labels: [FleetLabel(key: evil, value: evil)], search: evil, plugs: [evil],
            condition: .tripped)
        let month = FleetMonth("2026-11")!
        let all = rights((.owner, "*"))
        let pairs = [
            (FleetQuery.plugs(filter, for: all, limit: 5), FleetQuery.plugs(FleetFilter(), for: all, limit: 5)),
            (FleetQuery.houses(filter, for: all, limit: 5), FleetQuery.houses(FleetFilter(), for: all, limit: 5)),
            (
                FleetQuery.energy(filter, of: month...month, byPlug: true, for: all, limit: 5),
                FleetQuery.energy(FleetFilter(), of: month...month, byPlug: true, for: all, limit: 5)
            ),
        ]
        for (asked, plain) in pairs {
            #expect(asked.sql == plain.sql)
            #expect(!asked.sql.contains("DROP") && asked.values.contains { $0?.contains("DROP") == true })
            // Each value has exactly one placeholder.
            let places = Set(asked.sql.matches(of: /\$(\d+)/).compactMap { Int($0.output.1) })
            #expect(places == Set(1...asked.values.count))
        }
        #expect(FleetQuery.array(["a\"b", "c\\d", ""]) == #"{"a\"b","c\\d",""}"#)
    }

    @Test("A query requests one row more than its limit to detect a truncated list")
    func oneRowMoreThanWantedTellsThatAListIsCut() {
        let query = FleetQuery.plugs(FleetFilter(), for: rights((.owner, "*")), limit: 2)
        #expect(query.values.last == "3" && query.limit == 2)
        let rows: [[String?]] = [["1"], ["2"], ["3"]]
        let cut = FleetList(rows, to: query) { $0[0] }
        #expect(cut.rows == ["1", "2"] && cut.isCut)
        #expect(!FleetList(Array(rows.prefix(2)), to: query) { $0[0] }.isCut)
        #expect(FleetQuery.plugs(FleetFilter(), for: FleetRights(), limit: .max).limit == FleetQuery.largestLimit)
        #expect(FleetQuery.plugs(FleetFilter(), for: FleetRights(), limit: -1).limit == 1)
    }

    @Test("Filters above the limits or with NUL characters are rejected") func filtersThatAreTooMuchAreRefused() {
        #expect(FleetFilter().fault == nil)
        #expect(FleetFilter(plugs: Array(repeating: "x", count: FleetFilter.listLimit)).fault == nil)
        #expect(FleetFilter(plugs: Array(repeating: "x", count: FleetFilter.listLimit + 1)).fault != nil)
        #expect(FleetFilter(search: String(repeating: "x", count: FleetFilter.textLimit + 1)).fault != nil)
        #expect(FleetFilter(houses: ["a\0b"]).fault != nil)
        let label = FleetLabel(key: "a", value: "b")
        #expect(FleetFilter(labels: Array(repeating: label, count: FleetFilter.listLimit)).fault == nil)
        #expect(FleetFilter(labels: Array(repeating: label, count: FleetFilter.listLimit + 1)).fault != nil)
    }

    @Test("Labels and months are parsed, and invalid ones rejected") func labelsAndMonthsAsTheyAreWritten() {
        #expect(FleetLabel("city=Bad=Ems") == FleetLabel(key: "city", value: "Bad=Ems"))
        #expect(FleetLabel("city=") == FleetLabel(key: "city", value: ""))
        #expect(FleetLabel("=x") == nil && FleetLabel("city") == nil)
        #expect(FleetMonth("2026-12")?.next == FleetMonth("2027-01"))
        #expect(FleetMonth("2026-02")?.description == "2026-02")
        for text in [
            "2026-13", "2026-00", "26-01", "2026-1", "2026-11-01", "-026-01", "2026-+1", "1999-12", "٢٠٢٦-١١", "",
        ] {
            #expect(FleetMonth(text) == nil, "\(text)")
        }
    }

    @Test("A row is dropped if the user has no rights in its house or if its plug id is invalid")
    func aRowOfAHouseThatNobodyMaySeeIsLeftOut() throws {
        let row: [String?] = [
            "elm-5", #"{"city":"Bonn","floor":2,"odd":{"a":[1]}}"#, "00000000000a", "Lamp\u{1B}[2J", "t",
            "2026-11-25T03:02:54Z",
            "f", "30", "12.5", "1000", nil,
        ]
        let plug = try #require(FleetPlug(row, for: rights((.user, "elm-5"))))
        #expect(plug.labels == ["city": "Bonn"] && plug.on == false && plug.level == 30 && plug.role == "user")
        #expect(
            plug.lastSeen == "2026-11-25T03:02:54Z" && plug.id == "00000000000a" && plug.tripped == nil
                && plug.connected)
        #expect(
            FleetPlug(row, for: rights((.owner, "oak"))) == nil,
            "a row of a house in which the user has no rights was accepted")
        for (place, value) in [(2, "../x"), (2, nil), (0, nil)] as [(Int, String?)] {
            var bad = row
            bad[place] = value
            #expect(FleetPlug(bad, for: rights((.owner, "*"))) == nil)
        }
        var odd = row
        (odd[1], odd[3], odd[8]) = ("[", "", "NaN")
        let readable = try #require(FleetPlug(odd, for: rights((.owner, "*"))))
        #expect(readable.labels == [:] && readable.plug == "00000000000a" && readable.activePower == nil)
        #expect(FleetPlug([], for: rights((.owner, "*"))) == nil)
    }

    @Test("The sums of a house and the energy rows are parsed") func sumsOfAHouse() throws {
        let row: [String?] = ["elm-5", "{}", "20", "18", "1", "451.5", "120000", nil]
        let house = try #require(FleetHouse(row, for: rights((.viewer, "*"))))
        #expect(house.away == 2 && house.tripped == 1 && house.energyThisMonth == 120_000 && house.role == "viewer")
        let odd: [String?] = ["elm-5", "{}", "-9223372036854775808", "9223372036854775807", "0", nil, nil, nil]
        #expect(FleetHouse(odd, for: rights((.viewer, "*"))) != nil)
        #expect(FleetEnergy(["2026-11", "elm-5", nil, nil, "1.5", "0"])?.activeEnergy == 1.5)
        #expect(FleetEnergy(["2026-13", "elm-5", nil, nil, "1.5", "0"]) == nil)
        #expect(FleetEnergy(["2026-11", "elm-5", nil, nil, nil, "0"]) == nil)
    }
}
