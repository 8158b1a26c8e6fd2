import Checkout
import Foundation
import FuzzTargets

/// The inputs under version control. Each covers code that no other input covers, or has caused a failure.
enum Corpus {
    /// Reads the inputs of a target, sorted by name.
    static func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = Checkout.place("Tests/Fuzz/Corpus/\(target.name)")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map { ($0.lastPathComponent, try Array(Data(contentsOf: $0))) }
    }
}
