import Glibc
import TestSupport
import Testing

extension TestFolder {
    func make(_ folder: String) { mkdir("\(path)/\(folder)", 0o755) }

    func write(_ text: String, _ name: String) throws {
        let file = try #require(fopen("\(path)/\(name)", "w"))
        fputs(text, file)
        fclose(file)
    }

    func read(_ name: String) throws -> String {
        let file = try #require(fopen("\(path)/\(name)", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
