public import Daemon
public import Effects

/// Lets the daemon's rules perform effects outside of the house.
extension EffectPerformer: EffectPerforming {}
