import Foundation
import HTTPRequests
import LinuxSystem
import PlugClient
import PlugModel

/// The place of a bundle: its file, or a folder or HTTP server with the files that `Scripts/image` makes.
enum UpdateSource {
    case file(SystemBundle)
    case folder(String)
    case server(String)

    /// The newest system for a board: the content of BOARD.json.
    struct Newest: Decodable {
        /// The board.
        var board: String
        /// The version.
        var system: String
        /// The name of the bundle next to this file.
        var bundle: String
    }

    private static let descriptionLimit = 4096
    private static let connectLimit = Duration.seconds(10)
    /// A bundle takes this long over 1 Mbit/s.
    private static let loadLimit = Duration.seconds(1200)

    /// Reads the file, or checks the kind of place.
    ///
    /// - Throws: `CLIError`.
    init(_ place: String) throws {
        if place.hasPrefix("http://") || place.hasPrefix("https://") {
            self = .server(place.hasSuffix("/") ? place : place + "/")
        } else if FileStamp(of: place)?.isDirectory == true {
            self = .folder(place + "/")
        } else {
            self = .file(try Self.bundle(Self.read(place, limit: Int(PlugWire.largestBundle)), place))
        }
    }

    /// Returns the newest system for the board, or nil for a file.
    ///
    /// - Throws: `CLIError`.
    func newest(for board: String) async throws -> Newest? {
        if case .file = self { return nil }
        let isName = { (text: String) in !text.isEmpty && !text.contains("/") && !text.hasPrefix(".") }
        guard isName(board) else { throw CLIError("the plug does not state its board; give the file of a bundle") }
        let name = board + ".json"
        let bytes = try await load(name, limit: Self.descriptionLimit)
        guard let newest = try? JSONDecoder().decode(Newest.self, from: Data(bytes)), newest.board == board,
            isName(newest.bundle), newest.system.utf8.count <= PlugWire.maximumName
        else {
            throw CLIError(
                "\(place)\(name) is not the description of a bundle for \(board)\nhint: Scripts/image writes this file")
        }
        return newest
    }

    /// Returns the bundle of the newest system.
    ///
    /// - Throws: `CLIError`.
    func bundle(_ newest: Newest?) async throws -> SystemBundle {
        if case .file(let bundle) = self { return bundle }
        let name = newest?.bundle ?? ""
        return try Self.bundle(await load(name, limit: Int(PlugWire.largestBundle)), place + name)
    }

    private var place: String {
        switch self {
        case .file: ""
        case .folder(let path), .server(let path): path
        }
    }

    private func load(_ name: String, limit: Int) async throws -> [UInt8] {
        switch self {
        case .file: return []
        case .folder(let folder): return try Self.read(folder + name, limit: limit)
        case .server(let server):
            let address = server + name
            do {
                let answer = try await SingleRequest(
                    get: address, connectWithin: Self.connectLimit, within: Self.loadLimit
                ).load(limit: limit)
                guard answer.status == 200 else { throw CLIError("\(address): status \(answer.status)") }
                return answer.body
            } catch let fault as RequestFault {
                throw CLIError("\(address): \(fault)")
            }
        }
    }

    private static func read(_ path: String, limit: Int) throws(CLIError) -> [UInt8] {
        do throws(FileError) {
            return try FileStore().read(path, limit: limit)
        } catch {
            throw CLIError(error)
        }
    }

    private static func bundle(_ bytes: [UInt8], _ place: String) throws(CLIError) -> SystemBundle {
        do throws(SystemBundleError) {
            return try SystemBundle(bytes)
        } catch {
            throw CLIError("\(place): \(error)")
        }
    }
}
