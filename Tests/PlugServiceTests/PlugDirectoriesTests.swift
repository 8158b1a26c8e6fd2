import PlugService
import Testing

@Suite struct PlugDirectoriesTests {
    @Test func theRuntimeDirectoryFollowsTheStateDirectory() {
        #expect(PlugDirectories().state == "/var/lib/plugd")
        #expect(PlugDirectories().runtime == "/run/plugd")
        #expect(PlugDirectories(state: "/var/lib/plugd").runtime == "/run/plugd")
        #expect(PlugDirectories(state: "/srv/lamp").runtime == "/srv/lamp/run")
        #expect(PlugDirectories(state: "/srv/lamp", runtime: "/run/lamp").runtime == "/run/lamp")
    }
}
