/* SPDX-License-Identifier: Apache-2.0 */
/* apart.h - bytes between words that different threads write all the time, or that one writes and others read.
 *
 *   [ read by all ][ VMM_APART ][ written by each ][ VMM_APART ][ .. ]
 *
 * Lines of the processor's cache have 64 bytes, and are fetched in pairs.
 */
#ifndef CUVMM_APART_H
#define CUVMM_APART_H

enum { VMM_APART = 128 };

#endif
