// SPDX-License-Identifier: GPL-2.0
/* The simulated chips: chips.c has their behaviour, controls.c the files for tests, adapter.c the bus. */
#include <linux/debugfs.h>
#include <linux/i2c.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/types.h>

enum kind { ADE7953, INA219, INA226, INA260, PCA9685 };

#define REGISTERS 0x1000
#define KEPT_WRITES 256

struct chip {
	enum kind kind;
	u16 address;
	u32 *registers;
	u16 pointer;
	bool unlocked;      /* ADE7953: the previous write was 0xAD to 0x0FE */
	ktime_t energy_seen;
	u32 error, stuck, nonsense, transfers, energy_rate;
	bool present;
	struct { u16 address; u32 value; } writes[KEPT_WRITES];
	unsigned int write_count;
};

/* Locked while a bus message is handled, and while a control file changes registers or lists the writes. */
extern struct mutex chips_lock;

/* Sets the values after power-on. */
void power_on(struct chip *chip);
/* Returns the index of a register in `registers`, from its address on the bus. */
u16 place(const struct chip *chip, u16 address);
/* take handles a write on the bus, and answer handles a read. */
void take(struct chip *chip, const struct i2c_msg *message);
void answer(struct chip *chip, struct i2c_msg *message);

/* Creates the chip's folder in debugfs. */
void show_controls(struct chip *chip, struct dentry *folder);
