import Foundation
import HostSleep
import Testing

/// The tests with a bus are in Tests/Interoperability (test_sleep_client.py).
struct SuspendMonitorTests {
    @Test("Without a system bus, following the suspends ends with the reason") func withoutABus() async throws {
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1)
        let reason = await SuspendMonitor(why: "a test").follow { _ in Issue.record("a signal without a bus") }
        // The test also runs on a machine without libsystemd.
        let words = try #require(reason)
        #expect(words.contains("cannot connect to the system bus") || words.contains("libsystemd"))
        #expect(await SuspendMonitor.fault() == words)
    }
}
