import ConfigurationFiles
import PlugModel

/// Reads the table of each part. The result is nil if the table is missing, or if a required key is missing or not
/// valid. Other mistakes are only reported.
extension ConfigurationReader {
    private enum RelayKind: String, CaseIterable { case plain, latching }

    func relay() -> RelayConfiguration? {
        let table = table("relay")
        let kind = table.choice("kind", RelayKind.self)
        let onExit = table.choice("on_exit", RelayConfiguration.OnExit.self) ?? .keep
        let isActiveLow = table.boolean("active_low") ?? false
        let chip = table.chip()
        // The keys of both kinds are read, so that none counts as unknown.
        switch kind ?? .plain {
        case .plain:
            for key in ["on_line", "on_offset", "off_line", "off_offset", "pulse_ms"] {
                table.refuse(key, "only a relay of kind = \"latching\" has this key")
            }
            guard let line = table.line(chip: chip, isActiveLow: isActiveLow, isWanted: table.isThere) else {
                return nil
            }
            return RelayConfiguration(.plain(line), onExit: onExit)
        case .latching:
            for key in ["line", "offset"] {
                table.refuse(key, "a latching relay has two keys: on_\(key) and off_\(key)")
            }
            let on = table.line("on_", chip: chip, isActiveLow: isActiveLow)
            let off = table.line("off_", chip: chip, isActiveLow: isActiveLow)
            let pulse = table.integer("pulse_ms", 5...500, "ms") ?? 50
            guard let on, let off else { return nil }
            return RelayConfiguration(.latching(on: on, off: off, pulse: .milliseconds(pulse)), onExit: onExit)
        }
    }

    func button() -> ButtonConfiguration? {
        let table = table("button")
        let chip = table.chip()
        let isActiveLow = table.boolean("active_low") ?? true
        let line = table.line(chip: chip, isActiveLow: isActiveLow, isWanted: table.isThere)
        let bias = table.choice("bias", ButtonConfiguration.Bias.self)
        let debounce = table.integer("debounce_ms", 0...200, "ms")
        let window = table.integer("double_press_ms", 0...1000, "ms")
        let childLock = table.boolean("child_lock")
        guard let line else { return nil }
        var button = ButtonConfiguration(line)
        if let bias { button.bias = bias }
        if let debounce { button.debounce = .milliseconds(debounce) }
        if let window { button.doublePressWindow = .milliseconds(window) }
        if let childLock { button.childLock = childLock }
        return button
    }

    /// Reads the light's line, and the time of day in which the light is dark.
    func light() -> (line: LineConfiguration?, off: DailySpan) {
        let table = table("light")
        let chip = table.chip()
        let isActiveLow = table.boolean("active_low") ?? false
        let line = table.line(chip: chip, isActiveLow: isActiveLow, isWanted: table.isThere)
        return (line, lightOff(table))
    }

    private func lightOff(_ table: Table) -> DailySpan {
        guard let text = table.text("off", "a time of day such as 22:00-07:00, or never") else { return .never }
        guard let span = DailySpan(text: text) else {
            table.wrong(
                .invalid(
                    "\"\(text.prefix(40))\" is not a time of day; write its begin and end, such as 22:00-07:00, or never"
                ), "off")
            return .never
        }
        return span
    }

    func dimmer() -> DimmerConfiguration? {
        let table = table("dimmer")
        let chip = table.integer("pwm_chip", 0...255)
        let channel = table.integer("pwm_channel", 0...63)
        let frequency = table.number("frequency_hz", 50...25_000, "Hz")
        let minimum = table.number("minimum", 0...0.9, "of full power")
        let gamma = table.number("gamma", 0.25...4)
        let isInverted = table.boolean("inverted")
        guard table.isThere else { return nil }
        if !table.has("pwm_chip") { table.wrong(.missing("the number of /sys/class/pwm/pwmchipN"), "pwm_chip") }
        if !table.has("pwm_channel") { table.wrong(.missing("the channel of the chip"), "pwm_channel") }
        guard let chip, let channel else { return nil }
        var dimmer = DimmerConfiguration(chip: chip, channel: channel)
        if let frequency { dimmer.frequency = frequency }
        if let minimum { dimmer.minimum = minimum }
        if let gamma { dimmer.gamma = gamma }
        if let isInverted { dimmer.isInverted = isInverted }
        return dimmer
    }

    /// Reads the path of the file with thousandths of a degree.
    func thermometer() -> String? {
        let table = table("thermometer")
        let path = table.path("path", "a temperature file of the kernel")
        if table.isThere, !table.has("path") {
            table.wrong(.missing("the kernel's file, such as /sys/class/thermal/thermal_zone0/temp"), "path")
        }
        return path
    }
}

extension ConfigurationReader.Table {
    /// Reads an absolute path. Relative paths are rejected, because plugd's working directory is arbitrary.
    func path(_ key: String, _ what: String) -> String? {
        guard let path = text(key, what, longest: 1024) else { return nil }
        guard path.hasPrefix("/") else {
            wrong(.wrongType(expected: "a path that begins with /", found: "\"\(path.prefix(60))\""), key)
            return nil
        }
        return path
    }
}
