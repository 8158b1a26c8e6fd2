package import HouseCalendar
package import ProtocolCore

extension SunTimes.Day {
    /// Returns the instant of the event; nil if it does not happen on this day.
    package func instant(of event: SunEvent) -> Instant? {
        switch event {
        case .sunrise: sunrise
        case .sunset: sunset
        }
    }
}
