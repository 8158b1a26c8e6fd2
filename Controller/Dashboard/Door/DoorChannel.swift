import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Sets up an HTTP/1.1 connection with the limits of ``DoorLimits``.
struct DoorChannel: ServerChildChannel {
    let limits: DoorLimits
    let guests: ConnectionTracker
    private let base: HTTP1Channel

    init(limits: DoorLimits, guests: ConnectionTracker, responder: @escaping HTTPChannelHandler.Responder) {
        self.limits = limits
        self.guests = guests
        var configuration = HTTP1Channel.Configuration()
        configuration.httpDecoder = .init(
            maxHeaderFieldSize: limits.header, maxHeaderListSize: limits.headers,
            maxHeaderFieldCount: limits.headerCount)
        base = HTTP1Channel(responder: responder, configuration: configuration)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ArrivalHandler())
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            // The handler is placed before Hummingbird's handlers, so that Hummingbird's answers to invalid HTTP pass
            // through this handler too.
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestHandler(limits, guests: guests), position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
