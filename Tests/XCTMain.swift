// Runs the tests. SwiftPM's own way in asks an index of all sources first which tests of XCTest there are: none.

import Testing

@main struct RunTests {
    static func main() async {
        // `swift test` asks for those of XCTest all the same.
        guard CommandLine.arguments.contains("swift-testing") else { return print(#"{"name":"none","tests":[]}"#) }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
