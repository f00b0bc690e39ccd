/* SPDX-License-Identifier: Apache-2.0 */
/* cache_line.h - padding between words that different threads write often, or that one thread writes and others read.
 *
 *   [ read by all ][ VMM_CACHE_LINE_APART ][ written by each ][ VMM_CACHE_LINE_APART ][ .. ]
 *
 * A cache line has 64 bytes, and processors fetch lines in pairs.
 */
#ifndef CUVMM_CACHE_LINE_H
#define CUVMM_CACHE_LINE_H

enum { VMM_CACHE_LINE_APART = 128 };

#endif
