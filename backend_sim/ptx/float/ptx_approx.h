/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_approx.h - the functions that PTX approximates (ex2, lg2, sin, cos, tanh), as doubles: far closer than the error that the
 * documentation allows, so that rounding the answer to a float leaves an error of half a unit, or little more. sin and cos take their
 * angle in turns, cut to a float, as a device does.
 *
 *     ptx_exp2(NAN) = NAN, ptx_log2(0) = -infinity, ptx_log2(-1) = NAN, ptx_sin(infinity) = NAN
 *
 * From the C library nothing is taken: its functions differ between systems, and the recorded answers are the same everywhere.
 */
#ifndef PTX_APPROX_H
#define PTX_APPROX_H

double ptx_exp2(double x);
double ptx_log2(double x);
/* Of a number that a float holds. */
double ptx_sin(double x);
double ptx_cos(double x);
double ptx_tanh(double x);

#endif
