/* SPDX-License-Identifier: Apache-2.0 */
/* picture_svg.h - the state of a system as a drawing for a browser: the one of `cuvmm view`, in SVG.
 *
 *     r (R1) 8MiB                                 each stretch of addresses, to scale; gaps between them are left out
 *     [== M1: h ==][ . . . . . . . . . .]         reservations, in them mappings, in the colour of their memory's place; dots: nothing
 *     dev0 [  rw  ]                               a line of rights for each device, and for the host where it matters
 *           \                                     from a mapping to its memory
 *     dev0 [ h ][ . . 81075MiB free . . ]         physical memory, a row for each place; dashed: only its mappings keep it
 *
 * What is too narrow to be seen alone is drawn together, with how many it is; a part of a reservation that is empty and many times as
 * long as all that is mapped is shortened, with a mark. Colours, sizes of letters and lines are the
 * page's (tools/web/page.css), by the classes of the elements; each object has a title, and its name in data-object.
 */
#ifndef CUVMM_TOOLS_PICTURE_SVG_H
#define CUVMM_TOOLS_PICTURE_SVG_H

#include "picture.h"

/* What a picture is compared with. Each may be NULL. */
struct picture_svg {
    unsigned width;               /* in pixels; at least PICTURE_SVG_LEAST */
    const struct picture *before; /* what was there before the last call: what is new has a frame, what is gone an outline */
    const vmm_object *culprit;    /* what explains a refusal or a warning */
};

enum { PICTURE_SVG_LEAST = 240 };

void picture_svg(FILE *out, const struct picture *picture, const struct picture_svg *how);

/* A sentence of one object, as its title has it: "mapping M1 of h, 4MiB at r; dev0: rw". */
void picture_sentence(FILE *out, const struct picture *picture, const vmm_object *object);

#endif
