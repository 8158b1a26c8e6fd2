/// Prints HTML pages as PDF.
public enum PrintedPage {
    /// Returns the bytes of a PDF file.
    public static func pdf(html: String) throws(ConversionError) -> [UInt8] {
        try Converter.weasyPrint.convert(Array(html.utf8), ["--quiet", "-", "-"])
    }
}
