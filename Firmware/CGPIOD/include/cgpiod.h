#pragma once

/// 1 or 2: the interface of libgpiod that this was built for.
int cgpiod_interface(void);
