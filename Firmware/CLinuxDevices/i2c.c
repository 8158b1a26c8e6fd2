#include <errno.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <string.h>
#include <sys/ioctl.h>

#include "CLinuxDevices.h"

static int result(int returned) { return returned < 0 ? errno : 0; }

int clinuxdevices_i2c_takes_any(int descriptor, bool *any) {
    unsigned long functions = 0;
    int error = result(ioctl(descriptor, I2C_FUNCS, &functions));
    *any = functions & I2C_FUNC_I2C;
    return error;
}

int clinuxdevices_i2c_transfer(
    int descriptor, uint8_t address, const uint8_t *bytes, uint16_t written, uint8_t *read, uint16_t count) {
    struct i2c_msg messages[2];
    uint32_t number = 0;
    // An empty transfer still checks whether a chip acknowledges the address.
    if (written || !count)
        messages[number++] = (struct i2c_msg){.addr = address, .len = written, .buf = (uint8_t *)bytes};
    if (count) messages[number++] = (struct i2c_msg){.addr = address, .flags = I2C_M_RD, .len = count, .buf = read};
    struct i2c_rdwr_ioctl_data data = {.msgs = messages, .nmsgs = number};
    int done = ioctl(descriptor, I2C_RDWR, &data);
    if (done < 0) return errno;
    return (uint32_t)done == number ? 0 : EIO;
}

static int smbus(int descriptor, uint8_t direction, uint8_t command, uint32_t size, union i2c_smbus_data *data) {
    struct i2c_smbus_ioctl_data request = {.read_write = direction, .command = command, .size = size, .data = data};
    return result(ioctl(descriptor, I2C_SMBUS, &request));
}

static int smbus_read(int descriptor, uint8_t command, uint8_t *read, uint16_t count) {
    union i2c_smbus_data data = {0};
    int error;
    if (count == 1) {
        error = smbus(descriptor, I2C_SMBUS_READ, command, I2C_SMBUS_BYTE_DATA, &data);
        read[0] = data.byte;
    } else if (count == 2) {
        error = smbus(descriptor, I2C_SMBUS_READ, command, I2C_SMBUS_WORD_DATA, &data);
        // On the wire the low byte of a word comes first.
        read[0] = (uint8_t)data.word;
        read[1] = (uint8_t)(data.word >> 8);
    } else {
        data.block[0] = (uint8_t)count;
        error = smbus(descriptor, I2C_SMBUS_READ, command, I2C_SMBUS_I2C_BLOCK_DATA, &data);
        if (!error && data.block[0] != count) error = EIO;
        if (!error) memcpy(read, data.block + 1, count);
    }
    return error;
}

int clinuxdevices_smbus_transfer(
    int descriptor, uint8_t address, const uint8_t *bytes, uint16_t written, uint8_t *read, uint16_t count) {
    if (ioctl(descriptor, I2C_SLAVE, (unsigned long)address) < 0) return errno;
    union i2c_smbus_data data = {0};
    if (written == 1 && count && count <= I2C_SMBUS_BLOCK_MAX) return smbus_read(descriptor, bytes[0], read, count);
    if (written == 1 && !count) return smbus(descriptor, I2C_SMBUS_WRITE, bytes[0], I2C_SMBUS_BYTE, NULL);
    if (written == 2 && !count) {
        data.byte = bytes[1];
        return smbus(descriptor, I2C_SMBUS_WRITE, bytes[0], I2C_SMBUS_BYTE_DATA, &data);
    }
    if (written == 3 && !count) {
        data.word = (uint16_t)(bytes[1] | bytes[2] << 8);
        return smbus(descriptor, I2C_SMBUS_WRITE, bytes[0], I2C_SMBUS_WORD_DATA, &data);
    }
    if (!written && count == 1) {
        int error = smbus(descriptor, I2C_SMBUS_READ, 0, I2C_SMBUS_BYTE, &data);
        read[0] = data.byte;
        return error;
    }
    return EOPNOTSUPP;
}
