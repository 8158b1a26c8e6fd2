import Checkout
import Foundation

/// The source files and the manifest of the repository.
struct SourceTree: Sendable {
    var files: [SourceFile]
    var manifest: Manifest

    init(files: [SourceFile], manifest: String) {
        self.files = files
        self.manifest = Manifest(manifest)
    }

    /// Reads the package from which this test was built.
    static func ofThisPackage() throws -> SourceTree {
        let root = Checkout.place("")
        let folders = ["Sources", "Firmware", "Controller", "Tests", "Scripts"]
        let files = try folders.flatMap { try sources(root.appending(path: $0), from: root) }
        let manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        let page = try String(contentsOf: root.appending(path: SecurityRule.page), encoding: .utf8)
        let others = [
            SourceFile(path: "Package.swift", text: manifest), SourceFile(path: SecurityRule.page, text: page),
        ]
        return SourceTree(files: files + others, manifest: manifest)
    }

    /// Reads the source files of a folder. Most scripts have no extension. A missing folder has no files.
    private static func sources(_ folder: URL, from root: URL) throws -> [SourceFile] {
        let kinds: Set = ["swift", "c", "h", "modulemap", "py", "sh", "proto", ""]
        let walk = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: [.isRegularFileKey], options: .skipsHiddenFiles)
        var found: [SourceFile] = []
        while let url = walk?.nextObject() as? URL {
            guard kinds.contains(url.pathExtension),
                try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
            else { continue }
            let path = url.path.dropFirst(root.path.count).drop { $0 == "/" }
            found.append(SourceFile(path: String(path), text: try String(contentsOf: url, encoding: .utf8)))
        }
        return found.sorted { $0.path < $1.path }
    }

    /// Returns the target of a file, or nil if the file belongs to none.
    func target(of file: SourceFile) -> Manifest.Target? {
        manifest.targets.first { file.stands(in: $0.path) }
    }

    /// The Swift files of the targets that satisfy `condition`, each with its target.
    func swiftFiles(where condition: (Manifest.Target) -> Bool) -> [(file: SourceFile, target: Manifest.Target)] {
        files.filter(\.isSwift).compactMap { file in
            guard let target = target(of: file), condition(target) else { return nil }
            return (file, target)
        }
    }
}
