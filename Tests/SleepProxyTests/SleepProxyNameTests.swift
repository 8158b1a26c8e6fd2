import DNSWire
import ServiceDiscovery
import SleepProxy
import Testing

@Suite("Names of sleep proxies")
struct SleepProxyNameTests {
    @Test("A name with four metrics and features is parsed and written again")
    func roundTrip() throws {
        let name = try #require(SleepProxyName("70-35-60-70.1 Living Room"))
        #expect(name.metrics == .init(type: 70, portability: 35, marginalPower: 60, totalPower: 70))
        #expect(name.features == 1)
        #expect(name.name == "Living Room")
        #expect("\(name)" == "70-35-60-70.1 Living Room")
    }
}
