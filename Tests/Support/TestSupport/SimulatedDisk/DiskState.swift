internal import LinuxSystem
internal import ProtocolCore

/// The content of a simulated disk: the current state of each file and name, and the durable state that survives a
/// power cut.
struct DiskState: Sendable {
    enum Node: Hashable, Sendable {
        case directory
        case file(Int)
    }

    struct Content: Sendable {
        var now: [UInt8] = []
        var durable: [UInt8] = []
    }

    /// A change of names that is not durable until its directory is synchronized. A rename is one change.
    struct NameChange: Sendable {
        var removed: String?
        var added: (path: String, node: Node)?

        /// The directory of the change; nothing moves between directories here.
        var directory: String? { (added?.path ?? removed).map(DiskState.parent) }

        func apply(to names: inout [String: Node]) {
            if let removed { names[removed] = nil }
            if let added { names[added.path] = added.node }
        }
    }

    private(set) var contents: [Int: Content] = [:]
    private(set) var names: [String: Node] = [:]
    private var durableNames: [String: Node] = [:]
    /// The changes of names that are not durable yet, oldest first.
    private var unsettled: [NameChange] = []
    private var nextContent = 0
    /// The directory in memory. A power cut removes all paths below it.
    let memory: String
    var random: SeededRandom

    init(seed: UInt64, memory: String) {
        random = SeededRandom(seed: seed)
        self.memory = memory
    }

    func area(of path: String) -> SimulatedDisk.Area {
        path == memory || path.hasPrefix(memory + "/") ? .memory : .flash
    }

    func isDirectory(_ path: String) -> Bool {
        path == "/" || path == "." || path == memory || names[path] == .directory
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    // MARK: Changing

    mutating func makeFile(_ path: String) throws(SystemError) -> Int {
        guard isDirectory(Self.parent(of: path)) else { throw .notFound }
        nextContent += 1
        contents[nextContent] = Content()
        change(NameChange(added: (path, .file(nextContent))))
        return nextContent
    }

    mutating func makeDirectory(_ path: String) throws(SystemError) {
        guard names[path] == nil, !isDirectory(path) else { throw .alreadyExists }
        guard isDirectory(Self.parent(of: path)) else { throw .notFound }
        change(NameChange(added: (path, .directory)))
    }

    mutating func rename(_ path: String, to newPath: String) throws(SystemError) {
        guard let node = names[path] else { throw .notFound }
        change(NameChange(removed: path, added: (newPath, node)))
    }

    mutating func link(_ path: String, to newPath: String) throws(SystemError) {
        guard let node = names[path] else { throw .notFound }
        guard names[newPath] == nil else { throw .alreadyExists }
        change(NameChange(added: (newPath, node)))
    }

    mutating func remove(_ path: String) throws(SystemError) {
        guard names[path] != nil else { throw .notFound }
        change(NameChange(removed: path))
    }

    private mutating func change(_ change: NameChange) {
        change.apply(to: &names)
        unsettled.append(change)
    }

    mutating func write(_ bytes: [UInt8], to content: Int) { contents[content]?.now += bytes }

    mutating func truncate(_ content: Int, to length: Int) {
        guard let bytes = contents[content]?.now else { return }
        contents[content]?.now = Array(bytes.prefix(length))
    }

    mutating func corrupt(_ path: String) {
        guard case .file(let content) = names[path], var bytes = contents[content]?.now else { return }
        switch Int.random(in: 0..<3, using: &random) {
        case 0 where !bytes.isEmpty:
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        default: bytes = bytes.map { _ in UInt8.random(in: .min ... .max, using: &random) }
        }
        contents[content] = Content(now: bytes, durable: bytes)
    }

    // MARK: Making durable

    mutating func synchronize(_ content: Int) {
        guard let bytes = contents[content]?.now else { return }
        contents[content]?.durable = bytes
    }

    mutating func synchronizeDirectory(_ path: String) {
        for change in unsettled where change.directory == path { change.apply(to: &durableNames) }
        unsettled.removeAll { $0.directory == path }
    }

    // MARK: Losing power

    /// Cuts the power. Synchronized data stays; the seed decides about the rest. The first changes of names survive, up
    /// to a random one, because a file system keeps them in order in its journal. Everything in memory is lost.
    mutating func losePower() {
        for change in unsettled.prefix(Int.random(in: 0...unsettled.count, using: &random)) {
            change.apply(to: &durableNames)
        }
        unsettled = []
        names = durableNames.filter { area(of: $0.key) == .flash }
        durableNames = names
        var surviving: [Int: Content] = [:]
        for content in contents.keys.sorted() where names.values.contains(.file(content)) {
            let bytes = remainder(of: contents[content]!)
            surviving[content] = Content(now: bytes, durable: bytes)
        }
        contents = surviving
    }

    private mutating func remainder(of content: Content) -> [UInt8] {
        guard content.now != content.durable else { return content.now }
        // Synchronized bytes that were not changed since are kept.
        let common = zip(content.now, content.durable).prefix { $0 == $1 }.count
        let kept = Int.random(in: common...max(common, content.now.count), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return content.durable
        case 1: return content.now
        case 2: return Array(content.now[..<kept])
        // The file has its new length, but only the first part of the new data. The rest is zero.
        default: return content.now[..<kept] + [UInt8](repeating: 0, count: content.now.count - kept)
        }
    }
}
