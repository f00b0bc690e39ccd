/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_approx.h"

#include <stdint.h>
#include <string.h>

#define NOT_A_NUMBER (__builtin_nan(""))
#define INFINITE (__builtin_inf())
#define LN2 0x1.62e42fefa39efp-1
#define LOG2E 0x1.71547652b82fep+0

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounds a double below 2^51 to the nearest integer. */
static double nearest(double x)
{
    const double magic = 0x1.8p52;
    volatile double sum = x + magic;
    return sum - magic;
}

/* 2^n, for n within the range of normal numbers. */
static double power(int n)
{
    return of_bits((uint64_t)(n + 1023) << 52);
}

/* 2^x = 2^n * e^(r ln 2), |r| <= 1/2, by Taylor's series. */
double ptx_exp2(double x)
{
    if (x != x)
        return x;
    if (x > 1100)
        return INFINITE;
    if (x < -1100)
        return 0;
    double n = nearest(x), r = (x - n) * LN2, sum = 1;
    for (int i = 14; i > 0; i--)
        sum = 1 + sum * r / i;
    int whole = (int)n, half = whole / 2;
    return sum * power(half) * power(whole - half);
}

/* log2(m 2^n) = n + 2/ln2 artanh((m-1)/(m+1)), m near 1. */
double ptx_log2(double x)
{
    if (x != x || x < 0)
        return NOT_A_NUMBER;
    if (x == 0)
        return -INFINITE;
    if (x == INFINITE)
        return x;
    int n = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p64;
        n = -64;
    }
    uint64_t bits = bits_of(x);
    n += (int)(bits >> 52) - 1023;
    double m = of_bits((bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52);
    if (m > 1.4142135623730951) {
        m /= 2;
        n++;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int i = 23; i > 0; i -= 2)
        sum = sum * square + 1.0 / i;
    return n + 2 * LOG2E * s * sum;
}

/* The angle of x, which is a float's value, relative to the nearest quarter turn. *quadrant: the number of quarters, modulo
 * 4. A device converts the angle to turns as a truncated float, which limits the accuracy for a large x. */
static double reduced(double x, unsigned *quadrant)
{
    double turns = x * 0x1.45f306p-3; /* exact; then truncated to 24 bits */
    turns = of_bits(bits_of(turns) & ~((UINT64_C(1) << 29) - 1));
    if (turns >= 0x1p24 || turns <= -0x1p24)
        turns = 0;
    double quarters = 4 * turns, n = nearest(quarters);
    *quadrant = (unsigned)((int64_t)n & 3);
    return (quarters - n) * 0x1.921fb54442d18p+0;
}

static double sine(double r)
{
    double square = r * r, sum = 1;
    for (int i = 20; i > 0; i -= 2)
        sum = 1 - sum * square / (i * (i + 1));
    return r * sum;
}

static double cosine(double r)
{
    double square = r * r, sum = 1;
    for (int i = 19; i > 0; i -= 2)
        sum = 1 - sum * square / (i * (i + 1));
    return sum;
}

/* sin(x + ahead pi/2) */
static double wave(double x, unsigned ahead)
{
    unsigned quadrant;
    if (x != x || x == INFINITE || x == -INFINITE)
        return NOT_A_NUMBER;
    double r = reduced(x, &quadrant);
    quadrant += ahead;
    double value = quadrant & 1 ? cosine(r) : sine(r);
    return quadrant & 2 ? -value : value;
}

double ptx_sin(double x)
{
    return x == 0 ? x : wave(x, 0);
}

double ptx_cos(double x)
{
    return wave(x, 1);
}

/* (e^2x - 1) / (e^2x + 1); near 0 by its series, because the difference would lose digits. */
double ptx_tanh(double x)
{
    if (x != x || x == 0)
        return x;
    if (x > 40 || x < -40)
        return x > 0 ? 1 : -1;
    if (x < 0x1p-10 && x > -0x1p-10)
        return x - x * x * x / 3;
    double power = ptx_exp2(2 * LOG2E * x);
    return (power - 1) / (power + 1);
}
