import NIOCore
import PlugHardware

/// Reads the edges of a button on the plug's event loop, so that an edge wakes no other thread.
final class EdgeReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let source: any EdgeSource
    private let lost: (HardwareFault) -> Void
    private var isLost = false

    /// Creates a handler for the source's descriptor.
    /// - Parameter lost: Called once when reading fails. Not called after a deliberate close.
    init(_ source: any EdgeSource, lost: @escaping (HardwareFault) -> Void) {
        self.source = source
        self.lost = lost
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isLost else { return }
        do throws(HardwareFault) {
            try unwrapInboundIn(data).withUnsafeReadableBytes { bytes throws(HardwareFault) in try source.receive(bytes)
            }
        } catch {
            end(error, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isLost { end(source.fail(error), context) }
    }

    private func end(_ fault: HardwareFault, _ context: ChannelHandlerContext) {
        isLost = true
        context.close(promise: nil)
        lost(fault)
    }
}

extension EdgeSource {
    /// Converts an error of the channel.
    func fail(_ error: any Error) -> HardwareFault { fail((error as? IOError)?.errnoCode ?? 0) }
}
