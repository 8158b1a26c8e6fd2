import Testing

@testable import Dashboard

struct AnnouncementTests {
    private func settings(_ place: String) -> DashboardSettings {
        var settings = DashboardSettings()
        settings.place = DashboardSettings.Place(place)
        return settings
    }

    @Test("A page that other machines can reach is announced with TLS, under a host name that the page accepts")
    func announcesAnOpenPage() throws {
        let open = settings("0.0.0.0:7580")
        let service = try #require(open.announcement(port: 7580))
        #expect("\(service.type)" == "_https._tcp")
        #expect(service.port == 7580)
        #expect(service.hostName.hasSuffix("-smartplug"))
        #expect(HostCheck(names: open.acceptedNames).refusal(of: "\(service.hostName).local:7580") == nil)
    }

    @Test("A page on a loopback address is not announced, and does not accept the announced name")
    func hidesALocalPage() throws {
        let local = settings("127.0.0.1:7580")
        #expect(local.announcement(port: 7580) == nil)
        let name = try #require(local.announcedHost)
        #expect(HostCheck(names: local.acceptedNames).refusal(of: "\(name).local:7580")?.status == 403)
    }
}
