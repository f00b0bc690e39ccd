/* SPDX-License-Identifier: Apache-2.0 */
/* bodies.h - small functions in the C that host and device compilers share: BODY(name) computes a
 * thread's words out from its words in.
 *
 *     host compiler body_shifts(in, out) the expected result
 *     device compiler  kernel shifts: thread i calls the same with its words   PTX, checked in (bodies-*.ptx), made by `make ptx-bodies`
 *
 * Neither side contracts floating-point expressions, and no function has undefined behaviour.
 */
#ifndef PTX_BODIES_H
#define PTX_BODIES_H

#include <stdint.h>

#ifdef __CUDACC__
#define BODY_FUNCTION static __device__ __attribute__((noinline))
#define BODY_INLINE static __device__ inline
#else
#define BODY_FUNCTION static __attribute__((noinline))
#define BODY_INLINE static inline
#endif

enum { BODY_IN = 4, BODY_OUT = 4 };

#define BODY(name) BODY_FUNCTION void body_##name(const uint64_t *in, uint64_t *out)

BODY(integers)
{
    int32_t a = (int32_t)in[0], b = (int32_t)(in[1] >> 7) | 1;
    uint32_t c = (uint32_t)in[2], d = (uint32_t)in[3] | 1;
    out[0] = (uint64_t)(int64_t)(a / (b == -1 ? 3 : b)) + c / d;
    out[1] = (uint64_t)(int64_t)(a % (b == -1 ? 5 : b)) ^ (uint64_t)(c % d) << 32;
    out[2] = (uint32_t)(a < b ? a : b) + (c > d ? c : d);
    out[3] = (uint64_t)(int64_t)a * (uint64_t)(int64_t)b + (uint64_t)c * d;
}

BODY(wide)
{
    int64_t a = (int64_t)in[0], b = (int64_t)in[1] | 1;
    out[0] = (uint64_t)(a / (b == -1 ? 7 : b));
    out[1] = in[2] % (in[3] | 1);
    out[2] = in[0] * in[1] + (in[2] >> (in[3] & 63)) - (in[1] << (in[2] & 63));
    out[3] = (uint64_t)(a >> (in[3] & 63)) ^ (a < b ? in[2] : ~in[3]);
}

BODY(narrow)
{
    int8_t a = (int8_t)in[0], b = (int8_t)in[1];
    uint8_t c = (uint8_t)in[2], d = (uint8_t)(in[3] | 1);
    int16_t e = (int16_t)(in[0] >> 16), f = (int16_t)(in[1] >> 16);
    uint16_t g = (uint16_t)in[2], h = (uint16_t)(in[3] | 1);
    out[0] = (uint64_t)(int64_t)(int8_t)(a + b) ^ (uint64_t)(uint8_t)(c * d) << 8;
    out[1] = (uint64_t)(int64_t)(int16_t)(e - f) ^ (uint64_t)(uint16_t)(g / h) << 16;
    out[2] = (uint64_t)(int64_t)(a * 8 + (e >> 2)) + (uint64_t)(c % d) + (uint64_t)((g << 5) & 0xffff);
    out[3] = (uint64_t)(a < b) | (uint64_t)(c < d) << 1 | (uint64_t)(e <= f) << 2 | (uint64_t)(g >= h) << 3;
}

BODY(shifts)
{
    uint32_t a = (uint32_t)in[0], n = (uint32_t)in[1] & 31;
    int32_t s = (int32_t)in[2];
    out[0] = (uint64_t)(a << n | a >> ((32 - n) & 31)) + (uint64_t)(int64_t)(s >> n);
    out[1] = (in[0] >> 5 & 0x3f) | (in[1] >> 40 & 0xfff) << 12;
    out[2] = (uint64_t)__builtin_popcountll(in[0]) + (uint64_t)__builtin_clz(a | 1) * 100;
    out[3] = (a & 0xff00) >> 8 | (a & 0xff) << 8 | (uint64_t)(a >> 24 | a << 24) << 32;
}

BODY_INLINE float float_of(uint64_t bits)
{
    return (float)(int32_t)bits / 1000.0f;
}

BODY_INLINE uint32_t bits_of(float x)
{
    union {
        float f;
        uint32_t u;
    } u;
    u.f = x;
    return u.u;
}

BODY(floats)
{
    float a = float_of(in[0]), b = float_of(in[1]), c = float_of(in[2]);
    out[0] = (uint64_t)bits_of(a + b) << 32 | bits_of(a - c);
    out[1] = (uint64_t)bits_of(a * b) << 32 | bits_of(a / (b == 0 ? 1 : b));
    out[2] = (uint64_t)(a < b) | (uint64_t)(a <= c) << 1 | (uint64_t)(b == c) << 2 | (uint64_t)(a != b) << 3 | (uint64_t)(a > b && b > c) << 4;
    out[3] = (uint64_t)bits_of(a < 0 ? -a : a) << 32 | bits_of(__builtin_sqrtf(a < 0 ? -a : a));
}

BODY(doubles)
{
    union {
        double d;
        uint64_t u;
    } x, y, z;
    double a = (double)(int64_t)in[0] / 1e9, b = (double)(int32_t)in[1], c = (double)in[2];
    x.d = a * b - c;
    y.d = a / (b == 0 ? 3 : b) + 0.1;
    z.d = __builtin_sqrt(c) * (a > b ? 2.5 : -1.25);
    out[0] = x.u;
    out[1] = y.u;
    out[2] = z.u;
    out[3] = (uint64_t)(int64_t)b + (uint64_t)(int64_t)(float)b;
}

BODY(conversions)
{
    float f = (float)(int64_t)in[0] / 3.0f;
    double d = (double)in[1] / 7.0;
    out[0] = (uint64_t)(int64_t)(int32_t)(f / 1e12f) + (uint64_t)(int64_t)d;
    out[1] = bits_of((float)d) | (uint64_t)bits_of((float)(uint32_t)in[2]) << 32;
    out[2] = (uint64_t)(int64_t)(int8_t)(int32_t)(f / 1e18f) ^ (uint64_t)(uint16_t)(uint32_t)((float)(uint32_t)in[3] / 3.0f) << 16;
    out[3] = bits_of((float)in[3]) | (uint64_t)bits_of((float)(int16_t)in[0]) << 32;
}

BODY(loops)
{
    uint64_t sum = 0, x = in[0];
    for (int i = 0; i < (int)(in[1] & 31) + 3; i++) {
        for (int k = i; k > 0; k /= 2)
            sum += x ^ (uint64_t)k;
        if ((x & 7) == 3)
            continue;
        if ((x & 63) == 17)
            break;
        x = x * 6364136223846793005u + 1442695040888963407u;
    }
    out[0] = sum;
    out[1] = x;
    uint32_t a = (uint32_t)in[2] | 1, b = (uint32_t)in[3] | 1;
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    out[2] = a;
    int steps = 0;
    for (uint64_t n = (in[3] & 0xffff) + 1; n != 1 && steps < 500; steps++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    out[3] = (uint64_t)steps;
}

BODY(choices)
{
    uint64_t r = 0;
    for (int i = 0; i < 4; i++) {
        switch (in[i] % 11) {
        case 0: r += 1; break;
        case 1: r ^= in[i]; break;
        case 2: r = r * 3 + 1; /* and on */ __attribute__((fallthrough));
        case 3: r -= 7; break;
        case 4: r = ~r; break;
        case 5: r <<= 3; break;
        case 6: r >>= 1; break;
        case 7: r += in[(i + 1) & 3]; break;
        case 8: return;
        default: r ^= 0x55; break;
        }
        out[i] = r;
    }
}

struct pair_of {
    uint32_t a;
    uint16_t b;
    uint8_t c[6];
    double d;
};

BODY_FUNCTION struct pair_of turned(struct pair_of p)
{
    struct pair_of q = p;
    q.a = p.b;
    q.b = (uint16_t)p.a;
    for (int i = 0; i < 6; i++)
        q.c[i] = p.c[5 - i];
    q.d = p.d * 2;
    return q;
}

BODY(structures)
{
    struct pair_of p = {(uint32_t)in[0], (uint16_t)in[1], {1, 2, 3, (uint8_t)in[2], 5, 6}, (double)(int32_t)in[3]}, q = turned(turned(p)), r = turned(p);
    union {
        double d;
        uint64_t u;
    } u;
    u.d = q.d;
    out[0] = (uint64_t)q.a << 32 | q.b;
    out[1] = (uint64_t)r.a << 16 | r.b;
    out[2] = u.u;
    out[3] = (uint64_t)r.c[2] << 8 | r.c[5] | (uint64_t)q.c[3] << 16;
}

BODY(arrays)
{
    uint32_t a[16];
    uint8_t bytes[24];
    for (uint32_t i = 0; i < 16; i++)
        a[i] = (uint32_t)(in[i & 3] >> i);
    for (uint32_t i = 0; i < 24; i++)
        bytes[i] = (uint8_t)(in[3] * i);
    for (uint32_t i = 1; i < 16; i++) /* insertion sort */
        for (uint32_t k = i; k > 0 && a[k - 1] > a[k]; k--) {
            uint32_t t = a[k];
            a[k] = a[k - 1];
            a[k - 1] = t;
        }
    out[0] = (uint64_t)a[0] << 32 | a[15];
    out[1] = (uint64_t)a[in[0] & 15] << 32 | a[in[1] & 15];
    out[2] = bytes[in[2] % 24];
    out[3] = (uint64_t)a[7] * bytes[5];
}

BODY_FUNCTION uint64_t ackermann(uint32_t m, uint32_t n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, (uint32_t)ackermann(m, n - 1));
}

BODY(recursion)
{
    out[0] = ackermann((uint32_t)in[0] & 1, (uint32_t)in[1] & 7);
    out[1] = ackermann(2, (uint32_t)in[2] & 3);
    out[2] = out[0] + out[1];
    out[3] = 1;
}

BODY(logic)
{
    int a = (in[0] & 1) != 0, b = (in[1] & 2) != 0, c = in[2] > in[3], d = (int32_t)in[0] < 0;
    out[0] = (uint64_t)((a && b) || (c && !d));
    out[1] = a ? b ? in[0] : in[1] : c ? in[2] : in[3];
    out[2] = (uint64_t)(a + b + c + d) + (uint64_t)(!a) * 10;
    out[3] = (uint64_t)(a ^ b) | (uint64_t)(c != d) << 1;
}

#define BODIES(X) \
    X(integers) X(wide) X(narrow) X(shifts) X(floats) X(doubles) X(conversions) X(loops) X(choices) X(structures) X(arrays) X(recursion) X(logic)

#endif
