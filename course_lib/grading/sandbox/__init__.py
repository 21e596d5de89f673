"""The walls around student code, the limits on it, and the kernels that run behind them."""
