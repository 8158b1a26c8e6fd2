import LinuxSystem

/// Reads and writes the Wi-Fi networks, whose line only the Wi-Fi module interprets.
extension PlugStorage {
    /// Reads the line; nil if flash has none yet, or if it is not usable, which is reported. The plug then opens its own
    /// network. Call it once, because each call reports a damaged file.
    public func wiFiLine() -> String? {
        guard !isUnfinished, case .value(let line) = flash.wiFi({ troubles.note($0, "set up Wi-Fi again") }) else {
            return nil
        }
        return line
    }

    /// Returns a write of the line.
    public func writing(wiFi line: String) -> FlashWrite { FlashWrite(content: .wiFi(line), flash: flash) }
}
