import Processes

/// An installed program that converts documents.
public enum Converter: String, Hashable, Sendable {
    case rsvgConvert = "rsvg-convert"
    case weasyPrint = "weasyprint"

    /// The time limit of a conversion.
    private static let limit = Duration.seconds(60)

    func convert(_ document: [UInt8], _ arguments: [String]) throws(ConversionError) -> [UInt8] {
        do throws(Filter.Fault) {
            return try Filter([rawValue] + arguments, limit: Self.limit).output(of: document)
        } catch {
            switch error {
            case .missing: throw .missing(self)
            case .failed(let words): throw .failed(self, words)
            }
        }
    }

    fileprivate var purpose: String {
        switch self {
        case .rsvgConvert: "draws PNG files"
        case .weasyPrint: "makes PDF files"
        }
    }

    fileprivate var hint: String {
        switch self {
        case .rsvgConvert: "apt install librsvg2-bin fonts-dejavu-core, or use --svg"
        case .weasyPrint: "apt install weasyprint, or print the HTML file with a browser"
        }
    }
}

/// The reason why a document could not be converted.
public enum ConversionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program is not installed.
    case missing(Converter)
    /// The program cannot convert the document; with its message.
    case failed(Converter, String)

    /// The message for the user; for a missing program with a `hint:` line.
    public var description: String {
        switch self {
        case .missing(let program):
            "\(program.rawValue), which \(program.purpose), is not installed\nhint: \(program.hint)"
        case .failed(let program, let words): "\(program.rawValue) failed: \(words)"
        }
    }
}
