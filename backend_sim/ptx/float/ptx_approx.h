/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_approx.h - the functions that PTX approximates (ex2, lg2, sin, cos, tanh), as doubles: with far smaller errors than the
 * documentation allows, so that after rounding to a float the error is at most slightly over half a unit. sin and cos convert
 * their angle to turns, truncated to a float, as a device does.
 *
 *     ptx_exp2(NAN) = NAN, ptx_log2(0) = -infinity, ptx_log2(-1) = NAN, ptx_sin(infinity) = NAN
 *
 * They do not use the C library, whose functions differ between systems, while the recorded results must be the same
 * everywhere.
 */
#ifndef PTX_APPROX_H
#define PTX_APPROX_H

double ptx_exp2(double x);
double ptx_log2(double x);
/* The argument is a float's value. */
double ptx_sin(double x);
double ptx_cos(double x);
double ptx_tanh(double x);

#endif
