import DNSWire

/// The reasons why a service, its type or its attributes are not valid.
public enum ServiceDiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
    // The names of a registration.
    case nameLength(Int)
    case controlCharacter(String)
    case hostName(String)

    // A service type.
    case notAType(String)
    case missingUnderscore(String)
    case serviceNameLength(Int)
    case serviceNameCharacters(String)
    case subtypeLength

    // The attributes.
    case badKey(String)
    case attributeTooLong(String, count: Int)
    case recordTooLong(count: Int)

    public var description: String {
        switch self {
        case .nameLength(let count):
            "a service's name takes 1 to \(RFC6763.instanceNameLimit) bytes in UTF-8, not \(count); choose a shorter one"
        case .controlCharacter(let name):
            "the name \(name.debugDescription) contains a control character; use visible characters"
        case .hostName(let name):
            "\"\(name)\" cannot be a host name: 1 to \(Name.labelLimit) letters, digits and hyphens"
        case .notAType(let text): "\"\(text)\" is not a service type; write it like \"_smartplug._tcp\""
        case .missingUnderscore(let text): "the service name \"\(text)\" must begin with an underscore: \"_\(text)\""
        case .serviceNameLength(let count):
            "a service name has 1 to \(RFC6763.serviceNameLimit) characters after its underscore, not \(count)"
        case .serviceNameCharacters(let text):
            "the service name \"\(text)\" may contain only letters, digits and inner hyphens, and needs a letter"
        case .subtypeLength: "a subtype has 1 to \(RFC6763.instanceNameLimit) bytes"
        case .badKey(let key): "\"\(key)\" cannot be a TXT key: printable ASCII without \"=\", at least one character"
        case .attributeTooLong(let key, let count):
            "the TXT attribute \"\(key)\" takes \(count) bytes; shorten it to \(RFC6763.attributeLimit)"
        case .recordTooLong(let count):
            "the TXT record takes \(count) bytes; shorten it to \(RFC6763.textLimit)"
        }
    }
}

/// A short name of ``ServiceDiscoveryError`` for code that registers services.
public typealias RegistrationError = ServiceDiscoveryError
