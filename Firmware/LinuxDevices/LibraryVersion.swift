import CGPIOD

/// Which interface of libgpiod this program speaks: 1 or 2.
public var gpioInterface: Int { Int(cgpiod_interface()) }
