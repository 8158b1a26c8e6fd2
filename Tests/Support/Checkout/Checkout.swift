public import Foundation

/// The checkout in which the tests were built. Test files name no absolute path, so that all checkouts on a machine can
/// share the compiled tests.
public enum Checkout {
    /// Returns the place of a file or folder of the checkout, such as `Documentation/testing.md`.
    public static func place(_ path: String) -> URL { root.appending(path: path).standardized }

    /// The folder above the test program that has the manifest. `swift test` with a build folder elsewhere starts the
    /// program in the checkout.
    private static let root: URL = {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var folder = URL(filePath: program ?? "/")
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) { return folder }
        }
        return URL(filePath: FileManager.default.currentDirectoryPath)
    }()
}
