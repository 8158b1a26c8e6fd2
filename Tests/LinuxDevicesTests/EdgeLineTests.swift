import CGPIOD
import Testing

@testable import LinuxDevices

@Suite struct EdgeLineTests {
    /// As linux/gpio.h has it, in both interfaces: nanoseconds in 64 bits, then 1 for rising or 2 for falling in 32 bits.
    private func bytes(_ edges: [(time: UInt64, id: UInt32)]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: edges.count * cgpiod_edge_size)
        bytes.withUnsafeMutableBytes { bytes in
            for (index, edge) in edges.enumerated() {
                bytes.storeBytes(of: edge.time, toByteOffset: index * cgpiod_edge_size, as: UInt64.self)
                bytes.storeBytes(of: edge.id, toByteOffset: index * cgpiod_edge_size + 8, as: UInt32.self)
            }
        }
        return bytes
    }

    @Test func anEdgeIsAsLongAsTheKernelsInterfaceHasIt() {
        #expect(cgpiod_edge_size == (cgpiod_interface() == 1 ? 16 : 48))
    }

    @Test func edgesAreDecodedWithTheKernelsTime() {
        var edges: [EdgeLine.Edge] = []
        let isComplete = bytes([(7, 1), (1 << 40, 2)]).withUnsafeBytes { EdgeLine.decode($0) { edges.append($0) } }
        #expect(isComplete)
        #expect(edges == [EdgeLine.Edge(isActive: true, time: 7), EdgeLine.Edge(isActive: false, time: 1 << 40)])
    }

    @Test func asManyAsTheKernelKeepsMayNotBeAll() {
        func isComplete(_ count: Int) -> Bool {
            bytes((0..<count).map { (UInt64($0), 1) }).withUnsafeBytes { EdgeLine.decode($0) { _ in } }
        }
        #expect(isComplete(15))
        #expect(!isComplete(16))
    }

    @Test func whatIsNoWholeEdgeIsLeftOut() {
        let torn = bytes([(7, 1), (8, 2)]).dropLast()
        var count = 0
        _ = Array(torn).withUnsafeBytes { EdgeLine.decode($0) { _ in count += 1 } }
        #expect(count == 1)
    }
}
