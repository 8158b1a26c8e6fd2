internal import CQREncode

/// A QR code (ISO/IEC 18004) with error correction level M. libqrencode encodes it; ``lines`` draws it as text.
public struct QRCode: Sendable {
    /// The width in modules of the light margin around the code, which readers need to find it.
    static let quietZone = 4

    /// The number of modules per side, without the quiet zone.
    public let size: Int
    /// The modules row by row; true is dark.
    private let modules: [Bool]

    /// Encodes a text.
    ///
    /// - Parameter text: the text to encode. Capital letters, digits and `$%*+-./:` need the least space.
    /// - Returns: nil if the text is empty or too long for any code.
    public init?(_ text: String) {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { return nil }
        defer { QRcode_free(code) }
        let size = Int(code.pointee.width)
        // The lowest bit is the module's colour; the others describe its purpose.
        modules = (0..<size * size).map { code.pointee.data[$0] & 1 == 1 }
        self.size = size
    }

    /// True if the module is dark; false if it is light or outside the code.
    public subscript(row: Int, column: Int) -> Bool {
        (0..<size).contains(row) && (0..<size).contains(column) && modules[row * size + column]
    }

    /// The lines of text for a terminal with light text on a dark background. Each line shows two rows of modules, and
    /// the light modules are drawn.
    public var lines: [String] {
        let reach = -Self.quietZone..<size + Self.quietZone
        return stride(from: reach.lowerBound, to: reach.upperBound, by: 2).map { row in
            String(
                reach.map { column -> Character in
                    switch (self[row, column], row + 1 < reach.upperBound && !self[row + 1, column]) {
                    case (false, true): "█"
                    case (false, false): "▀"
                    case (true, true): "▄"
                    case (true, false): " "
                    }
                })
        }
    }
}
