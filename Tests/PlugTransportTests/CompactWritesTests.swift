import NIOCore
import NIOEmbedded
import Testing

@testable import PlugTransport

@Suite struct CompactWritesTests {
    private let channel = EmbeddedChannel(handler: CompactWritesHandler())

    private func written(_ count: Int, capacity: Int) throws -> ByteBuffer {
        var buffer = channel.allocator.buffer(capacity: capacity)
        buffer.writeRepeatingByte(7, count: count)
        try channel.writeOutbound(buffer)
        return try #require(try channel.readOutbound(as: ByteBuffer.self))
    }

    @Test("A small write is copied to a small buffer") func aSmallWriteHoldsNoLargeBuffer() throws {
        let small = try written(100, capacity: 16_384)
        #expect(Array(small.readableBytesView) == [UInt8](repeating: 7, count: 100))
        #expect(small.storageCapacity < 256)
    }

    @Test("A write that fills its buffer is passed on without a copy")
    func aWriteThatFillsItsBufferIsHandedOnAsItIs() throws {
        let large = try written(16_000, capacity: 16_384)
        #expect(large.readableBytes == 16_000 && large.storageCapacity == 16_384)
    }
}
