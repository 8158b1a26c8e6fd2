import HTTPTypes
import Hummingbird

/// Which methods each path knows, as the routes say. The router itself tells a wrong method like an unknown path.
struct KnownMethods: Sendable {
    private struct Known {
        /// Nil for a part that takes anything.
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

    /// Nil where there is no such path; else in alphabetical order.
    func methods(of path: String) -> [String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        let found = paths.filter { known in
            known.parts.count == parts.count && zip(known.parts, parts).allSatisfy { $0 == nil || $0! == $1 }
        }
        return found.isEmpty ? nil : Set(found.flatMap(\.methods)).sorted()
    }
}
