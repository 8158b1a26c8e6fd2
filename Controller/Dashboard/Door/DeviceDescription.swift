/// Shortens the User-Agent of a browser to a few words: "Firefox on Linux". A client can send any text, so the
/// description only helps users to recognize their own devices.
enum DeviceDescription {
    /// Most browsers also name other browsers: the first match wins.
    private static let browsers = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"), ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("CriOS/", "Chrome"),
        ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
        ("Mac OS X", "macOS"), ("Linux", "Linux"),
    ]

    /// - Parameter agent: the User-Agent header (RFC 9110 section 10.1.5), or nil.
    static func of(_ agent: String?) -> String {
        guard let agent, !agent.isEmpty else { return "a program" }
        let system = systems.first { agent.contains($0.0) }?.1
        guard let browser = browsers.first(where: { agent.contains($0.0) })?.1 else {
            // A program sends its name and version: "curl/8.5.0".
            let name = agent.prefix(40).prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
            return name.isEmpty ? "a program" : String(name)
        }
        return system.map { "\(browser) on \($0)" } ?? browser
    }
}
