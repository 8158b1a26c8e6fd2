import NIOCore

/// Splits the input into lines of UTF-8. A line above the limit ends the connection.
final class LineHandler: ByteToMessageDecoder {
    typealias InboundOut = String

    /// The maximum number of bytes of a line.
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

/// Encodes text of several lines as one line. The lines are joined by ASCII's unit separator, which the plug's texts
/// never contain.
enum PanelText {
    private static let separator: Character = "\u{1F}"

    static func oneLine(_ text: String) -> String { String(text.map { $0.isNewline ? separator : $0 }) }
    /// Replaces control characters of a name from outside, so that it can be printed on a terminal.
    static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar in
                let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
                return isControl ? "\u{FFFD}" : Character(scalar)
            })
    }

    static func lines(_ text: String) -> String { String(text.map { $0 == separator ? "\n" : $0 }) }
}
