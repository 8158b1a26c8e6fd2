import Processes

/// Renders drawings as pixels, by `rsvg-convert` of librsvg.
public enum Picture {
    /// The time limit of a rendering.
    private static let limit = Duration.seconds(60)

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
        let program = Filter(
            ["rsvg-convert", "--format=png", "--width=\(width * scale)", "--height=\(height * scale)"], limit: limit)
        do throws(Filter.Fault) {
            return try program.output(of: svg)
        } catch {
            throw PictureError(error)
        }
    }
}

/// The reason why a picture could not be rendered.
public enum PictureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `rsvg-convert` is not installed.
    case missingProgram
    /// `rsvg-convert` cannot draw the SVG; with its message.
    case failed(String)

    init(_ fault: Filter.Fault) {
        self =
            switch fault {
            case .missing: .missingProgram
            case .failed(let words): .failed(words)
            }
    }

    /// The message for the user; for a missing program with a `hint:` line.
    public var description: String {
        switch self {
        case .missingProgram:
            """
            rsvg-convert, which draws PNG files, is not installed
            hint: apt install librsvg2-bin fonts-dejavu-core, or use --svg
            """
        case .failed(let words): "rsvg-convert cannot draw this: \(words)"
        }
    }
}
