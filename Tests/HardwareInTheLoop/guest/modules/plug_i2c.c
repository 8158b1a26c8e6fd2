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
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/i2c.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

enum kind { ADE7953, INA219, INA226, INA260, PCA9685 };

#define REGISTERS 0x1000
#define KEPT_WRITES 256

struct chip {
	enum kind kind;
	u16 address;
	u32 *registers;
	u16 pointer;
	bool unlocked;      /* ADE7953: the write before was 0xAD to 0x0FE */
	ktime_t energy_seen;
	u32 error, stuck, nonsense, transfers, energy_rate;
	bool present;
	struct { u16 address; u32 value; } writes[KEPT_WRITES];
	unsigned int write_count;
};

static struct chip chips[] = {
	{ .kind = ADE7953, .address = 0x38 },
	{ .kind = INA219, .address = 0x40 },
	{ .kind = INA226, .address = 0x41 },
	{ .kind = INA260, .address = 0x44 },
	{ .kind = INA226, .address = 0x45 },
	{ .kind = PCA9685, .address = 0x60 },
};
static DEFINE_MUTEX(lock);
static struct dentry *folder;

static void power_on_ade7953(u32 *r)
{
	static const u16 gains[] = {
		0x380, 0x381, 0x382, 0x383, 0x384, 0x38c, 0x38d, 0x38e, 0x38f, 0x390,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(gains); i++)
		r[gains[i]] = 0x400000;
	r[0x004] = 0x40;
	r[0x102] = 0x8004;
	r[0x303] = r[0x304] = 58393;
	r[0x32e] = r[0x32d] = 1 << 20;
}

static void power_on(struct chip *chip)
{
	u32 *r = chip->registers;

	memset(r, 0, REGISTERS * sizeof(*r));
	chip->pointer = 0;
	chip->unlocked = false;
	chip->energy_seen = ktime_get();
	switch (chip->kind) {
	case ADE7953:
		power_on_ade7953(r);
		break;
	case INA219:
		r[0x00] = 0x399f;
		break;
	case INA226:
		r[0x00] = 0x4127;
		r[0xfe] = 0x5449;
		r[0xff] = 0x2260;
		break;
	case INA260:
		r[0x00] = 0x6127;
		r[0xfe] = 0x5449;
		r[0xff] = 0x2270;
		break;
	case PCA9685:
		r[0x00] = 0x11;
		r[0x01] = 0x04;
		r[0xfe] = 0x1e;
		break;
	}
}

/* 0x2xx and 0x3xx of an ADE7953 are one register, seen with 24 and with 32 bits. */
static u16 place(const struct chip *chip, u16 address)
{
	if (chip->kind == ADE7953 && (address & 0xf00) == 0x200)
		address += 0x100;
	return address % REGISTERS;
}

static int width(const struct chip *chip, u16 address)
{
	if (chip->kind == PCA9685)
		return 1;
	if (chip->kind != ADE7953)
		return 2;
	switch (address >> 8) {
	case 1:
		return 2;
	case 2:
		return 3;
	case 3:
		return 4;
	default:
		return 1;
	}
}

static u32 read_ade7953(struct chip *chip, u16 at)
{
	u32 *r = chip->registers, value;
	ktime_t now;

	if (at == 0x31e) {
		now = ktime_get();
		r[at] += div_u64((u64)ktime_to_us(ktime_sub(now, chip->energy_seen)) * chip->energy_rate, 1000000);
		chip->energy_seen = now;
	}
	value = r[at];
	if (at == 0x32e || (at == 0x31e && (r[0x004] & 0x40)))
		r[at] = 0;
	return value;
}

/* Current and power as the chip works them out of its shunt, its bus voltage and its calibration register. */
static u32 read_ina(struct chip *chip, u16 at)
{
	u32 *r = chip->registers;
	s32 shunt = (s16)r[0x01], current_lsb;

	switch (chip->kind) {
	case INA219:
		current_lsb = shunt * (s32)(r[0x05] & 0xfffe) / 4096;
		if (at == 0x02)
			return r[at] | 2;
		if (at == 0x04)
			return current_lsb & 0xffff;
		if (at == 0x03)
			return (abs(current_lsb) * (r[0x02] >> 3) / 5000) & 0xffff;
		break;
	case INA226:
		current_lsb = shunt * (s32)r[0x05] / 2048;
		if (at == 0x04)
			return current_lsb & 0xffff;
		if (at == 0x03)
			return (abs(current_lsb) * r[0x02] / 20000) & 0xffff;
		if (at == 0x06)
			return r[at] | 8;
		break;
	case INA260:
		if (at == 0x03)
			return (abs(shunt) * r[0x02] / 6400) & 0xffff;
		if (at == 0x06)
			return r[at] | 8;
		break;
	case ADE7953:
	case PCA9685:
		break;
	}
	return r[at];
}

static u32 read_register(struct chip *chip, u16 address)
{
	u16 at = place(chip, address);

	if (chip->kind == ADE7953)
		return read_ade7953(chip, at);
	if (chip->kind == PCA9685)
		return chip->registers[at];
	return read_ina(chip, at);
}

static void write_register(struct chip *chip, u16 address, u32 value)
{
	u16 at = place(chip, address);
	bool unlocked = chip->unlocked;

	chip->writes[chip->write_count % KEPT_WRITES].address = address;
	chip->writes[chip->write_count++ % KEPT_WRITES].value = value;
	chip->unlocked = chip->kind == ADE7953 && at == 0x0fe && value == 0xad;
	if (chip->kind == ADE7953 && at == 0x120 && !unlocked)
		return;
	if (chip->kind == ADE7953 && at == 0x102 && (value & 0x80))
		return power_on(chip);
	if ((chip->kind == INA219 || chip->kind == INA226 || chip->kind == INA260) && at == 0 && (value & 0x8000))
		return power_on(chip);
	chip->registers[at] = value;
}

static void answer(struct chip *chip, struct i2c_msg *message)
{
	int i, bytes = width(chip, chip->pointer);
	u32 value = 0;

	if (chip->nonsense == 1) {
		memset(message->buf, 0xff, message->len);
		return;
	}
	if (chip->nonsense) {
		get_random_bytes(message->buf, message->len);
		return;
	}
	for (i = 0; i < message->len; i++) {
		if (i % bytes == 0 && (i == 0 || chip->kind == PCA9685))
			value = read_register(chip, chip->pointer + i / bytes);
		message->buf[i] = i < bytes || chip->kind == PCA9685 ? value >> (8 * (bytes - 1 - i % bytes)) : 0xff;
	}
}

static void take(struct chip *chip, const struct i2c_msg *message)
{
	int i, start = chip->kind == ADE7953 ? 2 : 1;
	u32 value = 0;

	if (message->len < start)
		return;
	chip->pointer = message->buf[0];
	if (chip->kind == ADE7953)
		chip->pointer = chip->pointer << 8 | message->buf[1];
	if (message->len == start)
		return;
	for (i = start; i < message->len; i++) {
		value = value << 8 | message->buf[i];
		if (chip->kind == PCA9685) {
			write_register(chip, chip->pointer + i - start, value & 0xff);
			value = 0;
		}
	}
	if (chip->kind != PCA9685)
		write_register(chip, chip->pointer, value);
}

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
		mutex_lock(&lock);
		if (messages[i].flags & I2C_M_RD)
			answer(chip, &messages[i]);
		else
			take(chip, &messages[i]);
		mutex_unlock(&lock);
	}
	return count;
}

static u32 functionality(struct i2c_adapter *adapter)
{
	return I2C_FUNC_I2C | (I2C_FUNC_SMBUS_EMUL & ~I2C_FUNC_SMBUS_QUICK);
}

static const struct i2c_algorithm algorithm = { .master_xfer = transfer, .functionality = functionality };
static struct i2c_adapter adapter = { .owner = THIS_MODULE, .name = "plug bench", .algo = &algorithm };

static ssize_t set_register(struct file *file, const char __user *text, size_t length, loff_t *offset)
{
	struct chip *chip = ((struct seq_file *)file->private_data)->private;
	char line[64];
	unsigned int address;
	int value;

	if (length >= sizeof(line) || copy_from_user(line, text, length))
		return -EINVAL;
	line[length] = 0;
	if (sscanf(line, "%i %i", &address, &value) != 2 || address >= REGISTERS)
		return -EINVAL;
	mutex_lock(&lock);
	chip->registers[place(chip, address)] = value;
	mutex_unlock(&lock);
	return length;
}

static int show_registers(struct seq_file *file, void *unused)
{
	struct chip *chip = file->private;
	int i;

	for (i = 0; i < REGISTERS; i++)
		if (chip->registers[i])
			seq_printf(file, "0x%03x 0x%x\n", i, chip->registers[i]);
	return 0;
}

static int open_registers(struct inode *inode, struct file *file)
{
	return single_open(file, show_registers, inode->i_private);
}

static const struct file_operations registers_file = {
	.owner = THIS_MODULE, .open = open_registers, .read = seq_read, .write = set_register, .llseek = seq_lseek,
	.release = single_release,
};

/* seq_file may come back with a larger buffer: what was shown is forgotten when the file is closed. */
static int show_writes(struct seq_file *file, void *unused)
{
	struct chip *chip = file->private;
	unsigned int i;

	mutex_lock(&lock);
	for (i = chip->write_count > KEPT_WRITES ? chip->write_count - KEPT_WRITES : 0; i < chip->write_count; i++)
		seq_printf(file, "0x%03x 0x%x\n", chip->writes[i % KEPT_WRITES].address,
			   chip->writes[i % KEPT_WRITES].value);
	mutex_unlock(&lock);
	return 0;
}

static int open_writes(struct inode *inode, struct file *file)
{
	return single_open(file, show_writes, inode->i_private);
}

static int forget_writes(struct inode *inode, struct file *file)
{
	struct chip *chip = inode->i_private;

	chip->write_count = 0;
	return single_release(inode, file);
}

static const struct file_operations writes_file = {
	.owner = THIS_MODULE, .open = open_writes, .read = seq_read, .llseek = seq_lseek, .release = forget_writes,
};

static ssize_t reset_chip(struct file *file, const char __user *text, size_t length, loff_t *offset)
{
	mutex_lock(&lock);
	power_on(file->private_data);
	mutex_unlock(&lock);
	return length;
}

static const struct file_operations reset_file = { .owner = THIS_MODULE, .open = simple_open, .write = reset_chip };

static void show(struct chip *chip)
{
	struct dentry *its;
	char name[8];

	snprintf(name, sizeof(name), "0x%02x", chip->address);
	its = debugfs_create_dir(name, folder);
	debugfs_create_file("registers", 0600, its, chip, &registers_file);
	debugfs_create_file("writes", 0400, its, chip, &writes_file);
	debugfs_create_file("reset", 0200, its, chip, &reset_file);
	debugfs_create_u32("transfers", 0600, its, &chip->transfers);
	debugfs_create_u32("error", 0600, its, &chip->error);
	debugfs_create_u32("stuck", 0600, its, &chip->stuck);
	debugfs_create_u32("nonsense", 0600, its, &chip->nonsense);
	debugfs_create_u32("energy_rate", 0600, its, &chip->energy_rate);
	debugfs_create_bool("present", 0600, its, &chip->present);
}

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
		show(&chips[i]);
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
