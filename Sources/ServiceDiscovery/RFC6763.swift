import DNSWire

/// The constants of RFC 6763, each with its section.
public enum RFC6763 {
    /// §7.2 and RFC 6335 §5.1: the limit of a service name in characters, without the underscore.
    public static let serviceNameLimit = 15
    /// §4.1.1: the limit of an instance name in bytes of UTF-8.
    public static let instanceNameLimit = 63
    /// §6.2: the limit of a TXT record in bytes, above which it does not fit into one frame.
    public static let textLimit = 1300
    /// §6.1: the limit of one attribute in bytes, including key and "=".
    public static let attributeLimit = 255
    /// §9: the labels of service type enumeration.
    package static let enumerationLabels = ["_services", "_dns-sd", "_udp"]
    /// §7.1: the label between a subtype and its type.
    static let subtypeLabel = "_sub"
}
