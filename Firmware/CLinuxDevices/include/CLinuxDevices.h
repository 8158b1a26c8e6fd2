#ifndef CLINUXDEVICES_H
#define CLINUXDEVICES_H

#include <stdbool.h>
#include <stdint.h>

// What Swift cannot say: calls with a variable number of arguments, and control messages that are made of macros. Functions return 0
// or an error number.

/// Asks an I2C adapter whether it takes transfers of any shape; one that does not knows those of SMBus.
int clinuxdevices_i2c_takes_any(int descriptor, bool *any);

/// One transfer: writes `written` bytes, then reads `count` ones after a repeated start. Both may be 0.
int clinuxdevices_i2c_transfer(
    int descriptor, uint8_t address, const uint8_t *bytes, uint16_t written, uint8_t *read, uint16_t count);

/// The same on an adapter that only knows SMBus: up to 2 bytes behind the register's number written, or up to 32 read. EOPNOTSUPP: such a
/// transfer has no place in SMBus.
int clinuxdevices_smbus_transfer(
    int descriptor, uint8_t address, const uint8_t *bytes, uint16_t written, uint8_t *read, uint16_t count);

/// Sends the service manager a text, and a descriptor with it unless that is negative (sd_notify(3)).
///
/// `path`: of its socket; one that begins with @ is abstract.
int clinuxdevices_notify(const char *path, const char *text, int descriptor);

/// Names the calling thread; 15 bytes of the name are kept.
void clinuxdevices_name_thread(const char *name);

#endif
