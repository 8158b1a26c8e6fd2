import CGPIOD
import Glibc

/// The version of libgpiod that was loaded: 1 or 2; 0 before a chip was opened.
var gpioInterface: Int32 { cgpiod_interface() }

/// The location of a GPIO line in the user's configuration.
public enum LinePlace: Hashable, Sendable, CustomStringConvertible {
    /// A line by its name on the board, such as GPIO17.
    case named(String)
    /// A line by its offset on a chip. The chip is identified by name (gpiochip0), path or label (pinctrl-bcm2711).
    case chip(String, offset: UInt32)

    public var description: String {
        switch self {
        case .named(let name): name
        case .chip(let chip, let offset): "\(offset) of \(chip)"
        }
    }

    /// The place with a symbolic link, such as one from a udev rule, replaced by its target.
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
    /// The current setting of the line.
    case asIs
    /// No resistor, a resistor to the supply, or a resistor to ground.
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
