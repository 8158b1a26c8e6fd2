// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "plug_i2c.h"

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
	mutex_lock(&chips_lock);
	chip->registers[place(chip, address)] = value;
	mutex_unlock(&chips_lock);
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

/* seq_file may call this again with a larger buffer, so the shown writes are removed when the file is closed. */
static int show_writes(struct seq_file *file, void *unused)
{
	struct chip *chip = file->private;
	unsigned int i;

	mutex_lock(&chips_lock);
	for (i = chip->write_count > KEPT_WRITES ? chip->write_count - KEPT_WRITES : 0; i < chip->write_count; i++)
		seq_printf(file, "0x%03x 0x%x\n", chip->writes[i % KEPT_WRITES].address,
			   chip->writes[i % KEPT_WRITES].value);
	mutex_unlock(&chips_lock);
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
	mutex_lock(&chips_lock);
	power_on(file->private_data);
	mutex_unlock(&chips_lock);
	return length;
}

static const struct file_operations reset_file = { .owner = THIS_MODULE, .open = simple_open, .write = reset_chip };

void show_controls(struct chip *chip, struct dentry *folder)
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
