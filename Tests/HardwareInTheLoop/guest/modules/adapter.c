// SPDX-License-Identifier: GPL-2.0
/*
 * An I2C adapter with the chips of a plug's bench behind it, so that the kernel's own i2c-dev and chip drivers serve them.
 *
 * Each chip has a folder in debugfs, plug_i2c/ADDRESS:
 *   registers   "0x31c 9032007" sets one, as physics would; reading lists those that are not zero
 *   writes      what was written over the bus, one "register value" a line, since the last reading of this file
 *   transfers   how often the chip was addressed
 *   error       0, or the errno that each transfer ends with (6: nobody acknowledges)
 *   stuck       0, or the milliseconds that a transfer takes before it ends as timed out
 *   nonsense    0, or 1: whatever is read is all ones, or 2: it is random
 *   present     0: nobody answers at this address
 *   reset       anything written here brings the values after power-on back
 *   energy_rate what the ADE7953 adds to its energy in a second
 * A chip that was written to keeps what it was told; each read gives what a chip of its kind would give.
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
