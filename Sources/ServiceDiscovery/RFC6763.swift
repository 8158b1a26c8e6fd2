import DNSWire

/// The constants of RFC 6763, each with the section it comes from.
public enum RFC6763 {
    /// §7.2 and RFC 6335 §5.1: characters of a service name, the underscore not counted.
    public static let serviceNameLimit = 15
    /// §4.1.1: bytes of UTF-8.
    public static let instanceNameLimit = 63
    /// §6.2: bytes, beyond which a TXT record no longer travels in one frame.
    public static let textLimit = 1300
    /// §6.1: bytes of one attribute, key and "=" included.
    public static let attributeLimit = 255
    /// §9.
    static let enumerationLabels = ["_services", "_dns-sd", "_udp"]
    /// §7.1.
    static let subtypeLabel = "_sub"
}
