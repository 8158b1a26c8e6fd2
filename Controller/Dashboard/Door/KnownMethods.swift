import HTTPTypes
import Hummingbird

/// The methods that the routes accept per path. The router itself does not distinguish a wrong method from an unknown
/// path.
struct KnownMethods: Sendable {
    private struct Known {
        /// The parts of the path; nil for a part that matches any text.
        var parts: [String?]
        var methods: Set<String>
    }

    private var paths: [Known] = []

    init(_ routes: [Router<DashboardContext>.RouteDescription]) {
        for route in routes {
            let parts = route.path.description.split(separator: "/").map { part in
                part.hasPrefix("{") && part.hasSuffix("}") ? nil : String(part)
            }
            let index = paths.firstIndex { $0.parts == parts } ?? paths.endIndex
            if index == paths.endIndex { paths.append(Known(parts: parts, methods: [])) }
            paths[index].methods.insert(route.method.rawValue)
            if route.method == .get { paths[index].methods.insert(HTTPRequest.Method.head.rawValue) }
        }
    }

    /// Returns the methods of a path in alphabetical order; nil if the path is unknown.
    func methods(of path: String) -> [String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        let found = paths.filter { known in
            known.parts.count == parts.count && zip(known.parts, parts).allSatisfy { $0 == nil || $0! == $1 }
        }
        return found.isEmpty ? nil : Set(found.flatMap(\.methods)).sorted()
    }
}
