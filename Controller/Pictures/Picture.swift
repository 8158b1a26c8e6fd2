import CRSVG

/// Renders drawings as pixels.
public enum Picture {
    /// Returns the bytes of a PNG file.
    ///
    /// - Parameters:
    ///   - svg: a document of `width` times `height` pixels.
    ///   - scale: the number of pixels of the picture per pixel of the document. With 2, the picture is also sharp on
    ///     screens with a high resolution.
    /// - Throws: ``PictureError``.
    public static func png(
        svg: [UInt8], width: Int, height: Int, scale: Int = 2
    ) throws(PictureError) -> [UInt8] {
        let (wide, high) = (Int32(clamping: width * scale), Int32(clamping: height * scale))
        var png: [UInt8] = []
        var message = [UInt8](repeating: 0, count: 300)
        let result = withUnsafeMutablePointer(to: &png) { png in
            message.withUnsafeMutableBytes { message in
                smartplug_rsvg_png(
                    svg, svg.count, wide, high,
                    { context, bytes, count in
                        let png = context?.assumingMemoryBound(to: [UInt8].self)
                        png?.pointee.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
                    }, png, message.baseAddress?.assumingMemoryBound(to: CChar.self), message.count)
            }
        }
        let words = String(decoding: message.prefix { $0 != 0 }, as: UTF8.self)
        switch result {
        case smartplug_rsvg_done: return png
        case smartplug_rsvg_missing: throw .missingLibrary(words)
        case smartplug_rsvg_unreadable: throw .unreadable(words)
        default: throw .failed(words)
        }
    }
}

/// The reason why a picture could not be rendered, with the library's message.
public enum PictureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// librsvg or cairo is not installed.
    case missingLibrary(String)
    /// librsvg cannot parse or draw the SVG.
    case unreadable(String)
    /// The picture is too large, or cairo failed.
    case failed(String)

    /// The message for the user; for a missing library with a `hint:` line.
    public var description: String {
        switch self {
        case .missingLibrary(let words):
            """
            librsvg, which draws PNG files, is not available: \(words)
            hint: apt install librsvg2-2 fonts-dejavu-core, or use --svg
            """
        case .unreadable(let words): "librsvg cannot draw this: \(words)"
        case .failed(let words): "the picture cannot be drawn: \(words)"
        }
    }
}
