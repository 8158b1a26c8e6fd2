import Presentation
import Testing

struct PictureTests {
    private static let document = """
        <svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20" fill="red"/></svg>
        """

    private static let isInstalled: Bool = {
        do throws(ConversionError) {
            _ = try Picture.png(svg: Array(document.utf8), width: 30, height: 20)
        } catch .missing {
            return false
        } catch {}
        return true
    }()

    @Test(
        "An SVG document becomes a PNG of the scaled size", .enabled(if: isInstalled, "rsvg-convert is not installed"))
    func aDrawingBecomesPixels() throws {
        let png = try Picture.png(svg: Array(Self.document.utf8), width: 30, height: 20, scale: 3)
        // PNG's signature, and length, type, width and height of its first chunk.
        let beginning: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        #expect(Array(png.prefix(24)) == beginning + [0, 0, 0, 90, 0, 0, 0, 60])
        #expect(png.suffix(8) == [0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
    }

    @Test(
        "An invalid document and a too large picture are errors with the program's message",
        .enabled(if: isInstalled, "rsvg-convert is not installed"),
        arguments: [("<svg", 30), (document, 1 << 20)])
    func whatIsNoDrawingIsRefused(document: String, width: Int) {
        #expect { try Picture.png(svg: Array(document.utf8), width: width, height: 20) } throws: { error in
            if case ConversionError.failed(.rsvgConvert, let words) = error { !words.isEmpty } else { false }
        }
    }

    @Test("The error for a missing program names the package") func aMissingProgramIsExplained() {
        #expect("\(ConversionError.missing(.rsvgConvert))".contains("\nhint: apt install librsvg2-bin"))
        #expect("\(ConversionError.missing(.weasyPrint))".contains("\nhint: apt install weasyprint"))
    }
}
