/* SPDX-License-Identifier: Apache-2.0 */
/* profile_value.h - parsers for the values in a profile's text, which read an unterminated span.
 *
 *     "1 GiB" -> 1073741824        "1<<45" -> 35184372088832        "0x1000" -> 4096        "-1" -> -1
 */
#ifndef CUVMM_PROFILE_VALUE_H
#define CUVMM_PROFILE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

/* A piece of a text. */
struct sim_span {
    const char *at;
    size_t length;
};

/* An error in a value, and its offset in bytes. */
struct sim_value_error {
    size_t offset;
    char text[200];
};

/* The span without surrounding blanks. */
struct sim_span sim_span_trim(struct sim_span span);

/* The line with that number, from 1 on, without surrounding blanks; empty if there is none. */
struct sim_span sim_span_line(const char *text, size_t length, int number);

/* Is the span exactly this text? */
bool sim_span_is(struct sim_span span, const char *text);

/* Writes the span into buffer in a form that is safe in a message: quoted, truncated to about 40 bytes, with bytes that are not
 * printable ASCII as \xNN. An empty span becomes "nothing". */
#define SIM_QUOTE_MAX 96
const char *sim_span_quote(struct sim_span span, char buffer[SIM_QUOTE_MAX]);

/* Bytes: a decimal or 0x number, then nothing, B, KiB, MiB, GiB or TiB; or NUMBER<<NUMBER. */
bool sim_value_size(struct sim_span span, uint64_t *value, struct sim_value_error *error);

/* A whole number, decimal or 0x, with an optional sign, in [low, high]. The span is not empty. */
bool sim_value_int(struct sim_span span, int low, int high, int *value, struct sim_value_error *error);

/* "yes" or "no". */
bool sim_value_bool(struct sim_span span, bool *value, struct sim_value_error *error);

/* "all", "none", or pairs such as "0-1,2-3": bit j of peers[i] and bit i of peers[j] are set for a pair i-j. */
bool sim_value_peers(struct sim_span span, int count, uint32_t *peers, struct sim_value_error *error);

/* "none", or at most count ranges such as "1GiB-2GiB,0x100000000-0x200000000", each without its end. Sets the unused ranges to
 * 0. */
bool sim_value_ranges(struct sim_span span, int count, struct sim_range *ranges, struct sim_value_error *error);

#endif
