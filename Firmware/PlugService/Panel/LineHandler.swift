import NIOCore

/// Cuts what arrives into lines of UTF-8 and hands them on; a line over the limit ends the connection.
final class LineHandler: ByteToMessageDecoder {
    typealias InboundOut = String

    /// Bytes of a line.
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        let view = buffer.readableBytesView
        let end = view.firstIndex(of: UInt8(ascii: "\n"))
        guard (end ?? view.endIndex) - view.startIndex <= limit else {
            throw PanelError("a line is longer than \(limit) bytes")
        }
        guard let end else { return .needMoreData }
        let line = String(decoding: view[view.startIndex..<end], as: UTF8.self)
        buffer.moveReaderIndex(forwardBy: end - view.startIndex + 1)
        context.fireChannelRead(wrapInboundOut(line))
        return .continue
    }

    func decodeLast(
        context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
    ) throws -> DecodingState {
        try decode(context: context, buffer: &buffer)
    }
}

/// An answer of several lines travels as one: the end of each but the last is ASCII's unit separator, which no text of ours has.
enum PanelText {
    private static let separator: Character = "\u{1F}"

    static func oneLine(_ text: String) -> String { String(text.map { $0.isNewline ? separator : $0 }) }
    /// A name that somebody else chose, on a terminal.
    static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar in
                let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
                return isControl ? "\u{FFFD}" : Character(scalar)
            })
    }

    static func lines(_ text: String) -> String { String(text.map { $0 == separator ? "\n" : $0 }) }
}
