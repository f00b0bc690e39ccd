/* SPDX-License-Identifier: Apache-2.0 */
/* cache_line.h - bytes between words that different threads write all the time, or that one writes and others read.
 *
 *   [ read by all ][ VMM_CACHE_LINE_APART ][ written by each ][ VMM_CACHE_LINE_APART ][ .. ]
 *
 * Lines of the processor's cache have 64 bytes, and are fetched in pairs.
 */
#ifndef CUVMM_CACHE_LINE_H
#define CUVMM_CACHE_LINE_H

enum { VMM_CACHE_LINE_APART = 128 };

#endif
