// SPDX-License-Identifier: GPL-2.0
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/string.h>

#include "plug_i2c.h"

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

void power_on(struct chip *chip)
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

/* An ADE7953 has each 24-bit register at two addresses: 0x2xx transfers 24 bits, and 0x3xx 32 bits. */
u16 place(const struct chip *chip, u16 address)
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

/* Reads a register. Computes current and power as the chip does, and sets the flag of a finished conversion. */
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

void answer(struct chip *chip, struct i2c_msg *message)
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

void take(struct chip *chip, const struct i2c_msg *message)
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
