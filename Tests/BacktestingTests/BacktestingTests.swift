import Backtesting
import Testing

@Suite struct BacktestingTests {}
