#ifndef CLINUXDEVICES_H
#define CLINUXDEVICES_H

#include <stdbool.h>
#include <stdint.h>

// Calls that Swift cannot express: functions with a variable number of arguments, and control messages made with
// macros. Functions return 0 or an error number.

/// Determines whether an I2C adapter supports arbitrary transfers; other adapters support those of SMBus.
int clinuxdevices_i2c_takes_any(int descriptor, bool *any);

/// Performs one transfer: writes `written` bytes, then reads `count` bytes after a repeated start. Both may be 0.
int clinuxdevices_i2c_transfer(
    int descriptor, uint8_t address, const uint8_t *bytes, uint16_t written, uint8_t *read, uint16_t count);

/// Performs a transfer on an adapter that only supports SMBus: writes up to 2 bytes after the register's number, or
/// reads up to 32. Returns EOPNOTSUPP for a transfer that SMBus does not define.
int clinuxdevices_smbus_transfer(
    int descriptor, uint8_t address, const uint8_t *bytes, uint16_t written, uint8_t *read, uint16_t count);

/// Sends a text to the service manager, together with a descriptor unless that is negative (sd_notify(3)).
///
/// `path` is the path of its socket; a path that begins with @ is abstract.
int clinuxdevices_notify(const char *path, const char *text, int descriptor);

#endif
