import Testing

@testable import LinuxClocks

struct HostZoneTests {
    @Test func offsetsAreWrittenAsPOSIXHasThem() {
        #expect(HostZone.fixed("UTC") == "UTC0")
        #expect(HostZone.fixed("+01:00") == "<+0100>-01:00")
        #expect(HostZone.fixed("-03:30") == "<-0330>+03:30")
        for text in ["", "utc", "+1:00", "+15:00", "+01:60", "01:00", "+01:0", "+01:000", "+0100", "é01:00", "+a1:00"] {
            #expect(HostZone.fixed(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        "", "../passwd", "/etc/localtime", ":Europe/Berlin", "Europe", "Nowhere/At_All", "CET-1CEST,M3.5.0", "a b",
    ])
    func whatIsNoZoneIsRefused(name: String) {
        #expect(!HostZone.use(name))
    }
}
