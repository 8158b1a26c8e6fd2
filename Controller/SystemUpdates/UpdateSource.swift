import Foundation
import HTTPRequests
import LinuxSystem
public import PlugClient
import PlugModel

/// The place of a bundle: its file, or a folder or HTTP server with the files that `Scripts/image` makes.
public enum UpdateSource: Sendable {
    /// The content of a bundle's file.
    case file(SystemBundle)
    /// The path of a folder, with a slash at its end.
    case folder(String)
    /// The address of a folder of an HTTP server, with a slash at its end.
    case server(String)

    /// The newest system for a board: the content of BOARD.json.
    public struct Newest: Decodable, Hashable, Sendable {
        /// The board.
        public var board: String
        /// The version.
        public var system: String
        /// The name of the bundle next to this file.
        public var bundle: String

        /// Parses BOARD.json. Returns nil unless it describes a bundle for the board.
        public init?(_ bytes: [UInt8], for board: String) {
            guard let newest = try? JSONDecoder().decode(Newest.self, from: Data(bytes)), newest.board == board,
                UpdateSource.isName(newest.bundle), (1...PlugWire.maximumName).contains(newest.system.utf8.count)
            else { return nil }
            self = newest
        }
    }

    private static let descriptionLimit = 4096
    private static let connectLimit = Duration.seconds(10)
    /// A bundle takes this long over 1 Mbit/s.
    private static let loadLimit = Duration.seconds(1200)

    /// Reads a bundle, or checks which kind of place this is.
    ///
    /// - Parameter place: the path of a bundle or of a folder, or an address that begins with `http://` or `https://`.
    public init(_ place: String) throws(SystemUpdateError) {
        if let server = Self(server: place) {
            self = server
        } else if FileStamp(of: place)?.isDirectory == true {
            self.init(folder: place)
        } else {
            self = .file(try Self.bundle(Self.read(place, limit: Int(PlugWire.largestBundle)), place))
        }
    }

    /// Returns nil unless the address begins with `http://` or `https://`.
    init?(server address: String) {
        guard address.hasPrefix("http://") || address.hasPrefix("https://") else { return nil }
        self = .server(address.hasSuffix("/") ? address : address + "/")
    }

    init(folder path: String) { self = .folder(path.hasSuffix("/") ? path : path + "/") }

    /// Returns the newest system for the board, or nil for a file.
    ///
    /// - Throws: ``SystemUpdateError``, or `CancellationError`.
    public func newest(for board: String) async throws -> Newest? {
        if case .file = self { return nil }
        guard Self.isName(board) else { throw SystemUpdateError.unknownBoard }
        let name = board + ".json"
        guard let newest = Newest(try await load(name, limit: Self.descriptionLimit), for: board) else {
            throw SystemUpdateError.notDescribed(path: place + name, board: board)
        }
        return newest
    }

    /// Returns true if the text is a name in a folder, and not a path.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && !text.contains("/") && !text.hasPrefix(".")
    }

    /// Returns the bundle of the newest system.
    ///
    /// - Throws: ``SystemUpdateError``, or `CancellationError`.
    public func bundle(_ newest: Newest?) async throws -> SystemBundle {
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
                guard answer.status == 200 else {
                    throw SystemUpdateError.notFound(address: address, status: answer.status)
                }
                return answer.body
            } catch let fault as RequestFault {
                throw SystemUpdateError.unreachable(address: address, fault)
            }
        }
    }

    private static func read(_ path: String, limit: Int) throws(SystemUpdateError) -> [UInt8] {
        do throws(FileError) { return try FileStore().read(path, limit: limit) } catch { throw .unreadable(error) }
    }

    private static func bundle(_ bytes: [UInt8], _ path: String) throws(SystemUpdateError) -> SystemBundle {
        do throws(SystemBundleError) { return try SystemBundle(bytes) } catch { throw .notABundle(path: path, error) }
    }
}
