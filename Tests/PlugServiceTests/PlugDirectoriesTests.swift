import PlugService
import Testing

@Suite struct PlugDirectoriesTests {
    @Test("The default runtime directory depends on the state directory")
    func theRuntimeDirectoryFollowsTheStateDirectory() {
        #expect(PlugDirectories().state == "/var/lib/plugd")
        #expect(PlugDirectories().runtime == "/run/plugd")
        #expect(PlugDirectories(state: "/var/lib/plugd").runtime == "/run/plugd")
        #expect(PlugDirectories(state: "/srv/lamp").runtime == "/srv/lamp/run")
        #expect(PlugDirectories(state: "/srv/lamp", runtime: "/run/lamp").runtime == "/run/lamp")
    }
}
