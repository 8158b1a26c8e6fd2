import Glibc
import Testing

@testable import LinuxSystem

struct HostZoneTests {
    @Test("Offsets are converted to POSIX time zones, and other texts rejected")
    func offsetsAreWrittenAsPOSIXHasThem() {
        #expect(HostZone.fixed("UTC") == "UTC0")
        #expect(HostZone.fixed("+01:00") == "<+0100>-01:00")
        #expect(HostZone.fixed("-03:30") == "<-0330>+03:30")
        for text in ["", "utc", "+1:00", "+15:00", "+01:60", "01:00", "+01:0", "+01:000", "+0100", "é01:00", "+a1:00"] {
            #expect(HostZone.fixed(text) == nil, "\(text)")
        }
    }

    @Test(
        "The zone's name comes from TZ or, without TZ, from the target of the link /etc/localtime",
        .enabled(if: HostZone.databaseName(variable: "Europe/Berlin", link: nil) != nil, "the host has no time zones"))
    func names() {
        let link = "/usr/share/zoneinfo/Asia/Tokyo"
        #expect(HostZone.databaseName(variable: nil, link: link) == "Asia/Tokyo")
        #expect(HostZone.databaseName(variable: "Europe/Berlin", link: link) == "Europe/Berlin")
        #expect(HostZone.databaseName(variable: ":Europe/Berlin", link: nil) == "Europe/Berlin")
        #expect(HostZone.databaseName(variable: link, link: nil) == "Asia/Tokyo")
        for variable in ["", "CET-1CEST,M3.5.0", "Nowhere/At_All", "../passwd"] {
            #expect(HostZone.databaseName(variable: variable, link: link) == nil, "\(variable)")
        }
        #expect(HostZone.databaseName(variable: nil, link: "/etc/localtime") == nil)
    }

    @Test("A zone without a name is named after its offset: UTC, or hours and minutes with a sign")
    func offsets() {
        #expect([0, 3600, -12_600, 20_700].map(HostZone.offsetName) == ["UTC", "+01:00", "-03:30", "+05:45"])
    }

    @Test(
        "A text that is not the name of a zone is rejected",
        arguments: [
            "", "../passwd", "/etc/localtime", ":Europe/Berlin", "Europe", "Nowhere/At_All", "CET-1CEST,M3.5.0", "a b",
        ])
    func whatIsNoZoneIsRefused(name: String) {
        #expect(!HostZone.use(name))
    }

    @Test("A change of TZ while the process runs is used within a second")
    func newZone() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "UTC0", 1)
            guard HostZone.offset(at: 0) == 0 else { exit(1) }
            setenv("TZ", "JST-9", 1)
            // The zone is read once per second.
            while HostZone.offset(at: 0) != 32_400 { sched_yield() }
            exit(0)
        }
    }

    @Test("An unknown zone is reported with its name")
    func unknownZone() throws {
        for name in ["Europe/Nowhere", ":Europe/Nowhere", "/no/such/file", "Berlin", "+01:00"] {
            let problem = try #require(HostZone.problem(variable: name, file: "/etc/localtime"))
            #expect(problem.contains("\"\(name.drop { $0 == ":" })\"") && problem.contains("\nhint: "))
        }
        for rule in ["UTC", "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "<+0530>-05:30", ":JST-9", ""] {
            #expect(HostZone.problem(variable: rule, file: "/etc/localtime") == nil, "\(rule)")
        }
        #expect(HostZone.problem(variable: nil, file: "/no/such/file") == nil, "without a zone, the host uses UTC")
        #expect(HostZone.problem(variable: nil, file: "/etc/passwd")?.hasPrefix("/etc/passwd is not") == true)
    }
}
