import Foundation
import TestSupport

/// A temporary folder that represents the files of a host.
final class MadeUpHost: Sendable {
    private let folder = TestFolder()
    var root: String { folder.path }

    func write(_ text: String, to path: String) throws {
        let file = root + path
        try directory((path as NSString).deletingLastPathComponent)
        try Data(text.utf8).write(to: URL(filePath: file))
    }

    func directory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: root + path, withIntermediateDirectories: true)
    }

    func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: root + path).map { String(decoding: $0, as: UTF8.self) }
    }

    func mode(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: root + path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
