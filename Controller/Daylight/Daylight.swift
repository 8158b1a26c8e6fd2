public import Automation
import Foundation

/// Sunrise and sunset at a place on Earth.
public struct Daylight: Hashable, Sendable {
    /// Degrees, north and east positive.
    public let latitude: Double
    public let longitude: Double

    /// Nil outside of the Earth: 90 degrees of latitude, 180 of longitude.
    public init?(latitude: Double, longitude: Double) {
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        (self.latitude, self.longitude) = (latitude, longitude)
    }
}
