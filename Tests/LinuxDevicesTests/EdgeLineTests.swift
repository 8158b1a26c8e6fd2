import CGPIOD
import Testing

@testable import LinuxDevices

@Suite struct EdgeLineTests {
    private static let interfaces: [Int32] = [1, 2]

    /// Returns edges in the format of linux/gpio.h for version 1 or 2 of the interface: nanoseconds in 64 bits, then 1
    /// for rising or 2 for falling in 32 bits, then zeros.
    private func bytes(_ edges: [(time: UInt64, id: UInt32)], _ interface: Int32) -> [UInt8] {
        let size = cgpiod_edge_size(interface)
        var bytes = [UInt8](repeating: 0, count: edges.count * size)
        bytes.withUnsafeMutableBytes { bytes in
            for (index, edge) in edges.enumerated() {
                bytes.storeBytes(of: edge.time, toByteOffset: index * size, as: UInt64.self)
                bytes.storeBytes(of: edge.id, toByteOffset: index * size + 8, as: UInt32.self)
            }
        }
        return bytes
    }

    @Test("The size of an edge matches the kernel's interface") func anEdgeIsAsLongAsTheKernelsInterfaceHasIt() {
        #expect(Self.interfaces.map(cgpiod_edge_size) == [16, 48])
    }

    @Test("Edges are decoded with the kernel's time", arguments: interfaces)
    func edgesAreDecodedWithTheKernelsTime(interface: Int32) {
        var edges: [EdgeLine.Edge] = []
        let isComplete = bytes([(7, 1), (1 << 40, 2)], interface).withUnsafeBytes {
            EdgeLine.decode($0, interface: interface) { edges.append($0) }
        }
        #expect(isComplete)
        #expect(edges == [EdgeLine.Edge(isActive: true, time: 7), EdgeLine.Edge(isActive: false, time: 1 << 40)])
    }

    @Test("A read of 16 edges counts as incomplete, because the kernel may have more", arguments: interfaces)
    func asManyAsTheKernelKeepsMayNotBeAll(interface: Int32) {
        func isComplete(_ count: Int) -> Bool {
            bytes((0..<count).map { (UInt64($0), 1) }, interface).withUnsafeBytes {
                EdgeLine.decode($0, interface: interface) { _ in }
            }
        }
        #expect(isComplete(15))
        #expect(!isComplete(16))
    }

    @Test("A partial edge is ignored", arguments: interfaces) func whatIsNoWholeEdgeIsLeftOut(interface: Int32) {
        let torn = bytes([(7, 1), (8, 2)], interface).dropLast()
        var count = 0
        _ = Array(torn).withUnsafeBytes { EdgeLine.decode($0, interface: interface) { _ in count += 1 } }
        #expect(count == 1)
    }
}
