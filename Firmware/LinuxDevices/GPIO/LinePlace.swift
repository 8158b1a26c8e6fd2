import CGPIOD
import Glibc

/// Which interface of libgpiod was loaded: 1 or 2; 0 before a chip was opened.
var gpioInterface: Int32 { cgpiod_interface() }

/// Where a GPIO line is, as a person says it.
public enum LinePlace: Hashable, Sendable, CustomStringConvertible {
    /// By the name that the board gave it, such as GPIO17.
    case named(String)
    /// By its place on a chip, which is said as its name (gpiochip0), its path or its label (pinctrl-bcm2711).
    case chip(String, offset: UInt32)

    public var description: String {
        switch self {
        case .named(let name): name
        case .chip(let chip, let offset): "\(offset) of \(chip)"
        }
    }

    /// The same with a path that is a link, such as one that a udev rule made, replaced by what it leads to.
    var resolved: LinePlace {
        guard case .chip(let path, let offset) = self, path.hasPrefix("/"), let target = realpath(path, nil) else {
            return self
        }
        defer { free(target) }
        return .chip(String(cString: target), offset: offset)
    }
}

/// The resistor inside the chip that holds an open line at a level.
public enum LineBias: Hashable, Sendable {
    /// As it was found.
    case asIs
    case none, pullUp, pullDown

    var code: cgpiod_bias {
        switch self {
        case .asIs: cgpiod_bias_as_is
        case .none: cgpiod_bias_none
        case .pullUp: cgpiod_bias_pull_up
        case .pullDown: cgpiod_bias_pull_down
        }
    }
}
