internal import Glibc

extension Command {
    /// Little of ours: the daemon's own environment may hold what is nobody's business, and names sockets of systemd's.
    static func environment(of event: EffectEvent) -> [String] {
        let path = value("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        let inherited = ["HOME", "LANG"].compactMap { name in value(name).map { "\(name)=\($0)" } }
        return ["PATH=\(path)"] + inherited + ["SMARTPLUG_RULE=\(event.rule)", "SMARTPLUG_EVENT_ID=\(event.id)"]
    }

    private static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
