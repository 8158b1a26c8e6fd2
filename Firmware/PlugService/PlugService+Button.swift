import Appliance
import NIOCore
import NIOPosix
import PlugHardware

/// Watches the button. If its edges can be read from a descriptor, the event loop that switches the relay reads it.
extension PlugService {
    /// The buffer size. It exceeds the kernel's queue for one reader (16 edges of 48 bytes), so one read returns all
    /// edges.
    private static let edgeBytes = 1024

    func watchButton() {
        attempt("watch the button") { () throws(HardwareFault) in try self.startWatching() }
    }

    private func startWatching() throws(HardwareFault) {
        guard let button = settings.parts.button else { return }
        let source = try button.watch { [weak self] edge in
            guard let self else { return }
            if loop.inEventLoop {
                assumeIsolated { $0.took(edge) }
            } else {
                loop.execute { self.assumeIsolated { $0.took(edge) } }
            }
        }
        if let source { read(source, from: try source.openDescriptor()) }
    }

    private func took(_ edge: ButtonEdge) {
        handle(.appliance(.buttonEdge(down: edge.down, at: edge.time)))
        // The log line follows the relay, which must switch first.
        logger.debug("the button is \(edge.down ? "down" : "up")")
    }

    private func read(_ source: any EdgeSource, from descriptor: CInt) {
        let opening = NIOPipeBootstrap(group: loop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.edgeBytes))
            .channelInitializer { [weak self] channel in
                let reader = EdgeReader(source) { fault in self?.assumeIsolated { $0.lostButton(fault) } }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(reader)
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
        opening.whenComplete { [weak self] result in self?.assumeIsolated { $0.opened(result, source) } }
    }

    private func opened(_ result: Result<any Channel, any Error>, _ source: any EdgeSource) {
        switch result {
        case .success(let channel):
            if machine.isStopped { channel.close(promise: nil) } else { edges = channel }
        case .failure(let error): lostButton(source.fail(error))
        }
    }

    /// Handles the loss of the button's descriptor and schedules a retry.
    private func lostButton(_ fault: HardwareFault) {
        edges = nil
        guard !machine.isStopped else { return }
        failed("watch the button", fault) { () throws(HardwareFault) in try self.startWatching() }
    }

    /// Stops reading. Later edges belong to the next plug on these parts.
    func leaveButton() {
        edges?.close(promise: nil)
        edges = nil
    }
}
