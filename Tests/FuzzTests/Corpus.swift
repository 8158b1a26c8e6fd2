import Foundation
import FuzzTargets

/// The inputs that were kept: each reaches code that no other does, or broke something once.
enum Corpus {
    static func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fuzz/Corpus/\(target.name)")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map { ($0.lastPathComponent, try Array(Data(contentsOf: $0))) }
    }
}
