internal import Glibc

extension Command {
    /// Returns the environment of a program. Only PATH, HOME and LANG are inherited: the daemon's environment may
    /// contain secrets, and it contains the paths of systemd's sockets.
    static func environment(of event: EffectEvent) -> [String] {
        let path = value("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        let inherited = ["HOME", "LANG"].compactMap { name in value(name).map { "\(name)=\($0)" } }
        let told = [
            "RULE": event.rule, "EVENT_ID": event.id, "WHY": event.why, "PLUG": event.plug,
            "VALUE": event.value.map { "\($0)" }, "TITLE": event.title, "TEXT": event.text,
        ]
        let ours = told.compactMap { name, text in text.map { "SMARTPLUG_\(name)=\($0)" } }.sorted()
        return ["PATH=\(path)"] + inherited + ours
    }

    private static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
