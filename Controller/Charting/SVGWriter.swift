/// Writes the bytes of an SVG document. Coordinates are in tenths of a pixel, so that they are written as integers.
struct SVGWriter {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(1 << 16) }

    mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Appends text with XML escapes.
    mutating func text(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): raw("&amp;" as StaticString)
            case UInt8(ascii: "<"): raw("&lt;" as StaticString)
            case UInt8(ascii: ">"): raw("&gt;" as StaticString)
            case UInt8(ascii: "\""): raw("&quot;" as StaticString)
            default: bytes.append(byte)
            }
        }
    }

    /// Appends a coordinate given in tenths of a pixel.
    mutating func tenths(_ value: Int) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let (whole, tenth) = Int(value.magnitude).quotientAndRemainder(dividingBy: 10)
        digits(whole)
        guard tenth != 0 else { return }
        bytes.append(UInt8(ascii: "."))
        bytes.append(UInt8(ascii: "0") + UInt8(tenth))
    }

    private mutating func digits(_ value: Int) {
        if value >= 10 { digits(value / 10) }
        bytes.append(UInt8(ascii: "0") + UInt8(value % 10))
    }

    /// Appends a path command with one coordinate.
    mutating func step(_ letter: Unicode.Scalar, _ coordinate: Int) {
        bytes.append(UInt8(ascii: letter))
        tenths(coordinate)
    }

    /// Appends a path command with a point.
    mutating func step(_ letter: Unicode.Scalar, _ x: Int, _ y: Int) {
        bytes.append(UInt8(ascii: letter))
        tenths(x)
        bytes.append(UInt8(ascii: " "))
        tenths(y)
    }
}
