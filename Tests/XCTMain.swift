// Runs the tests. SwiftPM's own way in looks for tests of XCTest first, of which there are none, by an index of all sources.

import Testing

@main struct RunTests {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
