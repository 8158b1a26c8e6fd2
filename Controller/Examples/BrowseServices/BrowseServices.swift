import LinuxNetwork
import ServiceDiscovery

/// Prints the services of a type that are found, changed and lost, and their number after each batch of changes:
/// `BrowseServices [TYPE]`.
@main struct BrowseServices {
    static func main() async throws {
        let type = try ServiceType(CommandLine.arguments.dropFirst().first ?? "_smartplug._tcp")
        let discovery = Discovery()
        var names: Set<String> = []
        for await event in ServiceBrowser(type, in: discovery) {
            switch event.change {
            case .found(let service, let txt):
                names.insert(service.name)
                print("found", service.name, txt?["id"] ?? "")
            case .changed(let service, let txt):
                print("changed", service.name, txt?["id"] ?? "")
            case .lost(let service):
                names.remove(service.name)
                print("lost", service.name)
            }
            if !event.moreComing { print(names.count, "there") }
        }
    }
}
