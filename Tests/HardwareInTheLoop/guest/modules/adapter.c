// SPDX-License-Identifier: GPL-2.0
/*
 * An I2C adapter with simulated chips, used by the kernel's own i2c-dev and chip drivers.
 *
 * Each chip has a folder in debugfs, plug_i2c/ADDRESS:
 *   registers   "0x31c 9032007" sets a register, as a changed input would; reading lists all nonzero registers
 *   writes      the writes over the bus since this file was last closed, one "register value" per line; at most the
 *               newest 256
 *   transfers   the number of transfers to this chip
 *   error       0, or the errno of each transfer (6: no acknowledge)
 *   stuck       0, or the duration of a transfer in milliseconds before it times out
 *   nonsense    0, or 1: reads return all ones, or 2: reads return random bytes
 *   present     0: no chip answers at this address
 *   reset       any write restores the values after power-on
 *   energy_rate increment of the ADE7953's energy counter per second
 * A written register keeps its value; a read returns what a chip of that kind would return.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "plug_i2c.h"

static struct chip chips[] = {
	{ .kind = ADE7953, .address = 0x38 },
	{ .kind = INA219, .address = 0x40 },
	{ .kind = INA226, .address = 0x41 },
	{ .kind = INA260, .address = 0x44 },
	{ .kind = INA226, .address = 0x45 },
	{ .kind = PCA9685, .address = 0x60 },
};
static struct dentry *folder;
DEFINE_MUTEX(chips_lock);

static struct chip *chip_at(u16 address)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(chips); i++)
		if (chips[i].address == address)
			return &chips[i];
	return NULL;
}

static int transfer(struct i2c_adapter *adapter, struct i2c_msg *messages, int count)
{
	struct chip *chip;
	int i;

	for (i = 0; i < count; i++) {
		chip = chip_at(messages[i].addr);
		if (!chip || !chip->present)
			return -ENXIO;
		if (i == 0)
			chip->transfers++;
		if (chip->stuck) {
			msleep(chip->stuck);
			return -ETIMEDOUT;
		}
		if (chip->error)
			return -(int)chip->error;
		mutex_lock(&chips_lock);
		if (messages[i].flags & I2C_M_RD)
			answer(chip, &messages[i]);
		else
			take(chip, &messages[i]);
		mutex_unlock(&chips_lock);
	}
	return count;
}

static u32 functionality(struct i2c_adapter *adapter)
{
	return I2C_FUNC_I2C | (I2C_FUNC_SMBUS_EMUL & ~I2C_FUNC_SMBUS_QUICK);
}

static const struct i2c_algorithm algorithm = { .master_xfer = transfer, .functionality = functionality };
static struct i2c_adapter adapter = { .owner = THIS_MODULE, .name = "plug bench", .algo = &algorithm };

static void release(void)
{
	int i;

	debugfs_remove_recursive(folder);
	for (i = 0; i < ARRAY_SIZE(chips); i++)
		vfree(chips[i].registers);
}

static int __init start(void)
{
	int i, status;

	folder = debugfs_create_dir("plug_i2c", NULL);
	for (i = 0; i < ARRAY_SIZE(chips); i++) {
		chips[i].registers = vzalloc(REGISTERS * sizeof(u32));
		if (!chips[i].registers) {
			release();
			return -ENOMEM;
		}
		chips[i].present = true;
		power_on(&chips[i]);
		show_controls(&chips[i], folder);
	}
	status = i2c_add_adapter(&adapter);
	if (status)
		release();
	return status;
}

static void __exit stop(void)
{
	i2c_del_adapter(&adapter);
	release();
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A bench of simulated I2C chips, with faults");
