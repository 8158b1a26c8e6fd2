import Foundation

/// Where the person's programs keep what they remember (XDG Base Directory Specification).
func stateDirectory() -> String {
    let environment = ProcessInfo.processInfo.environment
    // A relative path is invalid there, and to be ignored.
    if let named = environment["XDG_STATE_HOME"], named.hasPrefix("/") { return named + "/smartplug" }
    return (environment["HOME"] ?? "/root") + "/.local/state/smartplug"
}
