import LinuxNetwork
import LinuxSystem
import NIOCore
import PlugModel
import ProtocolCore

/// The shell of ``Admission`` in the pipeline of the listening channel. It handles each connection before any resources
/// are spent on it.
final class AdmissionHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    /// A report of a connection to the channel that accepted it.
    enum Report: Sendable {
        case handshakeFinished(ConnectionID)
        case paired(ConnectionID, PublicKey?)
    }

    private var admission: Admission
    private var timer = DeadlineTimer()
    private let numbers = ConnectionNumbers()
    /// The admitted connections that are not known as paired.
    private var guests: [ConnectionID: any Channel] = [:]
    private let keep: ([String]) -> Void
    private let isLocal: (SocketAddress) -> Bool
    private let prepare: (any Channel, ConnectionID) throws -> Void

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - memory: the stored addresses of paired controllers.
    ///   - isLocal: returns false for the address of a peer in another network.
    ///   - prepare: adds the handlers to the pipeline of an admitted connection.
    init(
        _ limits: AdmissionLimits, _ memory: KnownAddressStore, isLocal: @escaping (SocketAddress) -> Bool,
        prepare: @escaping (any Channel, ConnectionID) throws -> Void
    ) {
        admission = Admission(limits, paired: memory.known)
        keep = memory.keep
        self.isLocal = isLocal
        self.prepare = prepare
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        let id = numbers.next()
        guests[id] = channel
        let address = channel.remoteAddress
        handle(.accepted(id, from: address?.ipAddress ?? "", isLocal: address.map(isLocal) ?? false), context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let report as Report:
            switch report {
            case .handshakeFinished(let id): handle(.handshakeFinished(id), context)
            case .paired(let id, let key):
                guests[id] = nil
                handle(.paired(id, by: key), context)
            }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// Closes the connections that are not known as paired, because their time limits are no longer enforced. Paired
    /// controllers stay connected.
    func channelInactive(context: ChannelHandlerContext) {
        timer.stop()
        for channel in guests.values { channel.closeAtOnce() }
        context.fireChannelInactive()
    }

    private func handle(_ event: Admission.Event, _ context: ChannelHandlerContext) {
        for action in admission.handle(event, now: BootClock.now) { perform(action, context) }
        guard context.channel.isActive else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer.follow(admission.nextDeadline, now: BootClock.now, on: context.eventLoop) {
            let (handler, context) = bound.value
            handler.handle(.deadlineReached, context)
        }
    }

    private func perform(_ action: Admission.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .admit(let id): admit(id, context)
        case .refuse(let id): guests.removeValue(forKey: id)?.close(promise: nil)
        case .close(let id): guests[id]?.closeAtOnce()
        case .keep(let addresses): keep(addresses)
        }
    }

    private func admit(_ id: ConnectionID, _ context: ChannelHandlerContext) {
        guard let channel = guests[id] else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        channel.closeFuture.whenComplete { _ in
            let (handler, context) = bound.value
            handler.guests[id] = nil
            handler.handle(.closed(id), context)
        }
        do {
            try prepare(channel, id)
            context.fireChannelRead(wrapInboundOut(channel))
        } catch {
            channel.close(promise: nil)
        }
    }
}
