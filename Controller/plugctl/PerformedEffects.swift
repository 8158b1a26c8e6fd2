public import Daemon
public import Effects

/// What rules do outside is done for the daemon's rules.
extension EffectPerformer: EffectPerforming {}
