/// Renders drawings as pixels.
public enum Picture {
    /// Returns the bytes of a PNG file.
    ///
    /// - Parameters:
    ///   - svg: a document of `width` times `height` pixels.
    ///   - scale: the number of pixels of the picture per pixel of the document. With 2, the picture is also sharp on
    ///     screens with a high resolution.
    public static func png(
        svg: [UInt8], width: Int, height: Int, scale: Int = 2
    ) throws(ConversionError) -> [UInt8] {
        try Converter.rsvgConvert.convert(
            svg, ["--format=png", "--width=\(width * scale)", "--height=\(height * scale)"])
    }
}
