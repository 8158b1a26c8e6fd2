import LinuxClocks
import NIOCore
import NIOHTTP1
import ProtocolCore

/// Stands before everything else and says when bytes come: those behind it hear of whole requests only.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct Arrival: Sendable {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(Arrival())
        context.fireChannelRead(data)
    }
}

/// Cuts off connections as ``RequestDeadlines`` says, and gives every answer the headers that it must have.
final class RequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var deadlines: RequestDeadlines
    private let guests: Guests
    private var timer: (task: Scheduled<Void>, at: Instant)?
    /// The answer under way is the connection's last.
    private var isLast = false
    /// Nothing that comes is heard any more.
    private var isDeaf = false
    /// How many answers are still to be given to somebody who wants no more than these; nil while nothing was said of it.
    private var answersLeft: Int?

    init(_ limits: DoorLimits, guests: Guests) {
        deadlines = RequestDeadlines(limits, now: BootClock.now)
        self.guests = guests
    }

    func handlerAdded(context: ChannelHandlerContext) { follow(context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ArrivalHandler.Arrival else { return context.fireUserInboundEventTriggered(event) }
        deadlines.receivedBytes(now: BootClock.now)
        follow(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        // After the last answer comes no request that is obeyed; what still belongs to the one before goes on to it.
        if isLast, case .head = part { isDeaf = true }
        guard !isDeaf else { return }
        switch part {
        case .head(let head):
            deadlines.receivedHead(now: BootClock.now)
            if !head.isKeepAlive, answersLeft == nil { answersLeft = deadlines.unanswered }
        case .body: break
        case .end: deadlines.receivedEnd(now: BootClock.now)
        }
        follow(context)
        context.fireChannelRead(data)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        deadlines.becameWritable(context.channel.isWritable, now: BootClock.now)
        follow(context)
        context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            AnswerHeaders.add(to: &head.headers)
            if answersLeft == 1 { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            isLast = head.headers[canonicalForm: "connection"].contains("close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            deadlines.answered(now: BootClock.now)
            answersLeft = answersLeft.map { $0 - 1 }
            follow(context)
            // What still comes in is read to its deadline and thrown away: closed with bytes unread, the connection would be
            // reset, and the answer lost with it.
            if isLast {
                context.flush()
                context.close(mode: .output, promise: nil)
            }
        }
    }

    /// The timer is moved when it ends: most deadlines only get later.
    private func follow(_ context: ChannelHandlerContext) {
        guests.note(ObjectIdentifier(context.channel), deadlines.phase)
        guard let deadline = deadlines.nextDeadline else { return }
        if let timer, timer.at <= deadline { return }
        timer?.task.cancel()
        let left = max(.zero, deadline - BootClock.now)
        let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(in: .nanoseconds(left.wholeNanoseconds)) {
            let (handler, context) = this.value
            handler.ended(context)
        }
        timer = (task, deadline)
    }

    private func ended(_ context: ChannelHandlerContext) {
        timer = nil
        guard let deadline = deadlines.nextDeadline else { return }
        guard deadline > BootClock.now else { return context.close(promise: nil) }
        follow(context)
    }
}

/// What every answer says to a browser: that the page may use what is ours and nothing else, and nobody else what is ours.
enum AnswerHeaders {
    static let always = [
        (
            "Content-Security-Policy",
            """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
            manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    static func add(to headers: inout HTTPHeaders) {
        for (name, value) in always { headers.replaceOrAdd(name: name, value: value) }
        // Whatever says nothing of it is of the moment.
        if !headers.contains(name: "Cache-Control") { headers.add(name: "Cache-Control", value: "no-store") }
    }
}
