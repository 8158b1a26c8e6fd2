import Daylight
import Testing

@Suite struct DaylightTests {}
