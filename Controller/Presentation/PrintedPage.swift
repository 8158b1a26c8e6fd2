import Processes

/// Prints HTML pages as PDF, by `weasyprint`.
public enum PrintedPage {
    /// The time limit.
    private static let limit = Duration.seconds(60)

    /// Returns the bytes of a PDF file.
    ///
    /// - Throws: ``PrintError``.
    public static func pdf(html: String) throws(PrintError) -> [UInt8] {
        do throws(Filter.Fault) {
            return try Filter(["weasyprint", "--quiet", "-", "-"], limit: limit).output(of: Array(html.utf8))
        } catch {
            throw PrintError(error)
        }
    }
}

/// The reason why a page could not be printed.
public enum PrintError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `weasyprint` is not installed.
    case missingProgram
    /// `weasyprint` cannot print the page; with its message.
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
            weasyprint, which makes PDF files, is not installed
            hint: apt install weasyprint, or print the HTML file with a browser
            """
        case .failed(let words): "weasyprint cannot print this: \(words)"
        }
    }
}
