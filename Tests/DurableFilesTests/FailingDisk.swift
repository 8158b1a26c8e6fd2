import DurableFiles
import Synchronization

/// A disk in memory, one directory, that loses its power after so many steps: each call is a step, each written byte is one.
/// What was synchronized survives; of the rest, chance decides, as on a real disk.
final class FailingDisk: FileCalls {
    private struct Content {
        var now: [UInt8] = []
        var durable: [UInt8] = []
    }

    private struct State {
        var contents: [Content] = []
        var names: [String: Int] = [:]
        var durableNames: [String: Int] = [:]
        var opened: [Int32: Int] = [:]
        var nextDescriptor: Int32 = 3
        var stepsLeft = Int.max
        var ignoresSynchronize = false
    }

    private static let directoryContent = -1
    private let state = Mutex(State())

    /// - Parameter ignoresSynchronize: a disk that lies, to see that the tests notice.
    init(ignoresSynchronize: Bool = false) { state.withLock { $0.ignoresSynchronize = ignoresSynchronize } }

    func cutPower(afterSteps steps: Int) { state.withLock { $0.stepsLeft = steps } }

    var hasPower: Bool { state.withLock { $0.stepsLeft > 0 } }

    /// What the disk holds when the power comes back.
    func content(of name: String, using random: inout some RandomNumberGenerator) -> [UInt8]? {
        let keepsNames = Bool.random(using: &random)
        let keepsData = Int.random(in: 0...2, using: &random)
        let part = Double.random(in: 0...1, using: &random)
        return state.withLock { state in
            guard let index = (keepsNames ? state.names : state.durableNames)[name] else { return nil }
            let content = state.contents[index]
            switch keepsData {
            case 0: return content.durable
            case 1: return content.now
            default:
                // The new length with only a part of the new data, zeros behind it. Synchronized bytes stay.
                let common = zip(content.now, content.durable).prefix { $0 == $1 }.count
                let kept = common + Int(Double(content.now.count - common) * part)
                guard content.now != content.durable else { return content.now }
                return content.now[..<kept] + [UInt8](repeating: 0, count: content.now.count - kept)
            }
        }
    }

    private func step<Value>(_ body: (inout State) throws(SystemError) -> Value) throws(SystemError) -> Value {
        let result: Result<Value, SystemError> = state.withLock { state in
            guard state.stepsLeft > 0 else { return .failure(.inputOutput) }
            state.stepsLeft -= 1
            do throws(SystemError) {
                return .success(try body(&state))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 {
        try step { (state) throws(SystemError) in
            let content: Int
            switch purpose {
            case .directory: content = Self.directoryContent
            case .reading, .readingSecret:
                guard let known = state.names[path] else { throw .notFound }
                content = known
            case .creating:
                guard state.names[path] == nil else { throw .alreadyExists }
                content = state.contents.count
                state.contents.append(Content())
                state.names[path] = content
            case .appending, .locking:
                if let known = state.names[path] {
                    content = known
                } else {
                    content = state.contents.count
                    state.contents.append(Content())
                    state.names[path] = content
                }
            }
            state.nextDescriptor += 1
            state.opened[state.nextDescriptor] = content
            return state.nextDescriptor
        }
    }

    func close(_ descriptor: Int32) { state.withLock { _ = $0.opened.removeValue(forKey: descriptor) } }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        preconditionFailure("what survives is read through content(of:)")
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        try step { (state) throws(SystemError) in
            let count = min(bytes.count, state.stepsLeft)
            guard count > 0 else { throw .inputOutput }
            state.stepsLeft -= count
            state.contents[state.opened[descriptor]!].now += Array(bytes.prefix(count))
            return count
        }
    }

    func length(_ descriptor: Int32) throws(SystemError) -> Int {
        try step { (state) throws(SystemError) in state.contents[state.opened[descriptor]!].now.count }
    }

    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess {
        preconditionFailure("what survives is read through content(of:)")
    }

    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        try step { (state) throws(SystemError) in
            let index = state.opened[descriptor]!
            state.contents[index].now = Array(state.contents[index].now.prefix(length))
        }
    }

    func synchronize(_ descriptor: Int32) throws(SystemError) {
        try step { (state) throws(SystemError) in
            guard !state.ignoresSynchronize else { return }
            let index = state.opened[descriptor]!
            if index == Self.directoryContent {
                state.durableNames = state.names
            } else {
                state.contents[index].durable = state.contents[index].now
            }
        }
    }

    func rename(_ path: String, to newPath: String) throws(SystemError) {
        try step { (state) throws(SystemError) in
            guard let content = state.names.removeValue(forKey: path) else { throw .notFound }
            state.names[newPath] = content
        }
    }

    func remove(_ path: String) throws(SystemError) {
        try step { (state) throws(SystemError) in
            guard state.names.removeValue(forKey: path) != nil else { throw .notFound }
        }
    }

    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) {}
    func isDirectory(_ path: String) -> Bool { true }
    func lock(_ descriptor: Int32) throws(SystemError) {}
}
