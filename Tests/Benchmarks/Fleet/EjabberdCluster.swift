import Foundation

/// A cluster of three ejabberd nodes on the loopback interface. The nodes use all cores, this process
/// one.
final class EjabberdCluster {
    static let user = "house@cluster"
    static let password = "sesame"
    static let port = 1883

    let addresses: [String]
    private let folder: String
    private var nodes: [ChildProcess] = []
    private var starting: Set<Int> = []
    /// Processor time of nodes that were killed, in seconds.
    private var spent = 0.0

    init(folder: String) throws {
        self.folder = folder
        // Random addresses, so that two runs on this machine do not collide.
        let network = "127.\(Int.random(in: 1...254)).\(Int.random(in: 0...254))"
        addresses = (1...3).map { "\(network).\($0)" }
        for index in addresses.indices {
            nodes.append(try launch(index))
            try waitUntilReady(index)
        }
    }

    private func launch(_ index: Int) throws -> ChildProcess {
        starting.insert(index)
        let node = ["Tests/Interoperability/harness/ejabberd_node", "\(folder)/node\(index)", addresses[index]]
        let cores = "0-\(sysconf(Int32(_SC_NPROCESSORS_CONF)) - 1)"
        return try ChildProcess(
            "/usr/bin/taskset", ["--cpu-list", cores] + node + (index == 0 ? [] : [addresses[0]]))
    }

    /// Waits until a started node is ready.
    /// - Throws: ``BenchmarkError`` if the node ended instead.
    func waitUntilReady(_ index: Int) throws {
        guard starting.remove(index) != nil else { return }
        while let line = nodes[index].line() { if line == "ready" { return } }
        throw BenchmarkError("a node of ejabberd did not start: see \(folder)/node\(index)/ejabberd.log")
    }

    /// Kills a node with SIGKILL. If the node is still starting, waits until it is ready first.
    func kill(_ index: Int) throws {
        try waitUntilReady(index)
        spent += nodes[index].processorTime
        nodes[index].terminate()
    }

    /// Starts a killed node again. Its memory is lost; its database is kept.
    func restart(_ index: Int) throws { nodes[index] = try launch(index) }

    /// The processor time of all nodes so far, in seconds.
    var processorTime: Double { nodes.reduce(spent) { $0 + $1.processorTime } }
    /// The resident memory of the largest node, in bytes.
    var memory: Double { nodes.map(\.residentMemory).max() ?? 0 }

    func stop() {
        for node in nodes { node.terminate() }
    }
}

extension ChildProcess {
    var processorTime: Double { Self.processorTime(of: id) }

    /// Returns the processor time in seconds, or 0 if the process has ended.
    static func processorTime(of id: pid_t) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 12,
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    var residentMemory: Double { Self.residentMemory(of: id) }

    /// Returns the resident memory in bytes, or 0 if the process has ended.
    static func residentMemory(of id: pid_t) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { return 0 }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }
}
