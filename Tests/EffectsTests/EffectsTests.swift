import Effects
import Testing

@Suite struct EffectsTests {}
