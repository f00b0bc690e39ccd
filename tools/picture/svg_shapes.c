/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "svg_draw.h"
#include "text.h"
#include "values.h"

void svg_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
}

bool svg_on_host(vmm_mem_location location)
{
    return location.type != VMM_MEM_LOCATION_TYPE_DEVICE && location.type != VMM_MEM_LOCATION_TYPE_INVALID;
}

const char *svg_colour(vmm_mem_location location)
{
    static const char *const devices[] = {"dev0", "dev1", "dev2", "dev3"};
    if (location.type == VMM_MEM_LOCATION_TYPE_INVALID)
        return "team";
    return svg_on_host(location) ? "host" : devices[(unsigned)location.id % 4];
}

const vmm_object *svg_before(const struct svg *svg, const vmm_object *object)
{
    const struct picture *before = svg->how->before;
    size_t low = 0, high = before ? before->count : 0;
    /* vmm_visit lists each kind in its order; a search by halves needs a sorted list (picture_svg sorts it) */
    while (low < high) {
        size_t middle = (low + high) / 2;
        const vmm_object *o = &before->object[middle];
        if (o->kind < object->kind || (o->kind == object->kind && o->number < object->number))
            low = middle + 1;
        else
            high = middle;
    }
    const vmm_object *found = before && low < before->count ? &before->object[low] : NULL;
    return found && found->kind == object->kind && found->number == object->number ? found : NULL;
}

const char *svg_mark(const struct svg *svg, const vmm_object *object)
{
    const vmm_object *culprit = svg->how->culprit;
    if (culprit && culprit->kind == object->kind && culprit->number == object->number)
        return " culprit";
    return svg->how->before && !svg_before(svg, object) ? " fresh" : "";
}

bool svg_fits(const char *text, double width)
{
    return (double)strlen(text) * 6.9 <= width - 6;
}

static void put_line(const struct svg *svg, const struct svg_box *box, const char *text, double y, const char *class_name)
{
    if (!text || !text[0] || !svg_fits(text, box->w))
        return;
    fprintf(svg->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class_name, box->x + box->w / 2, y);
    svg_text(svg->out, text);
    fputs("</text>", svg->out);
}

void svg_box(struct svg *svg, const struct svg_box *box)
{
    const double middle = box->y + box->h / 2;
    const bool two = box->sub && box->sub[0] && svg_fits(box->sub, box->w);
    char name[PICTURE_LABEL];
    fprintf(svg->out, "<g class=\"%s%s\"", box->class_name, box->mark);
    if (box->object) {
        fputs(" data-object=\"", svg->out);
        svg_text(svg->out, picture_short(svg->picture, box->object, name));
        fputs("\"><title>", svg->out);
        picture_sentence(svg->out, svg->picture, box->object);
        fputs("</title>", svg->out);
    } else if (box->title) {
        fprintf(svg->out, " data-object=\"\"><title>%s</title>", box->title);
    } else {
        fputs(">", svg->out);
    }
    fprintf(svg->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", box->x, box->y, box->w > 1 ? box->w : 1, box->h);
    put_line(svg, box, box->label, two ? middle - 7 : middle, "name");
    if (two)
        put_line(svg, box, box->sub, middle + 8, "sub");
    fputs("</g>\n", svg->out);
}

/* ---- sentences ---- */

static void put_range(FILE *out, const struct picture *picture, const vmm_object *object)
{
    const vmm_object *r = picture_reservation(picture, object->start);
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM];
    fprintf(out, ", %s at ", text_size(object->size, size));
    if (!r) {
        fprintf(out, "0x%" PRIx64, object->start);
        return;
    }
    svg_text(out, picture_short(picture, r, name));
    if (object->start != r->start)
        fprintf(out, "+%s", text_size(object->start - r->start, size));
}

static void put_rights(FILE *out, const struct picture *picture, const vmm_object *mapping)
{
    const vmm_mem_location host = {VMM_MEM_LOCATION_TYPE_HOST, 0};
    const char *between = "; ";
    char text[VALUE_ROOM];
    for (size_t i = 0; i < picture->count; i++) {
        const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, (int)picture->object[i].value};
        if (picture->object[i].kind != VMM_OBJECT_DEVICE)
            continue;
        fprintf(out, "%sdev%d: %s", between, device.id, value_rights_text((uint64_t)vmm_object_access(mapping, device), text));
        between = ", ";
    }
    if (svg_on_host(mapping->location) || vmm_object_access(mapping, host))
        fprintf(out, "%shost: %s", between, value_rights_text((uint64_t)vmm_object_access(mapping, host), text));
}

static void put_handle(FILE *out, const vmm_object *h)
{
    char size[TEXT_SIZE_ROOM], where[VALUE_ROOM];
    if (h->team)
        fprintf(out, ", a multicast object of %s for %" PRIu32 " devices", text_size(h->size, size), h->team);
    else
        fprintf(out, ", %s on %s", text_size(h->size, size), value_location_text(h->location, where));
    fprintf(out, "; %" PRIu32 " reference%s, %" PRIu32 " mapping%s", h->references, h->references == 1 ? "" : "s", h->mappings,
            h->mappings == 1 ? "" : "s");
    if (!h->references)
        fputs(": only they keep it", out);
}

void picture_sentence(FILE *out, const struct picture *picture, const vmm_object *object)
{
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM], where[VALUE_ROOM];
    const vmm_object *handle = object->kind == VMM_OBJECT_MAPPING ? picture_handle(picture, object) : NULL;
    static const char *const kinds[] = {[VMM_OBJECT_RESERVATION] = "reservation", [VMM_OBJECT_MAPPING] = "mapping",
                                        [VMM_OBJECT_HANDLE] = "handle", [VMM_OBJECT_ALLOCATION] = "allocation",
                                        [VMM_OBJECT_BIND] = "bind"};
    fprintf(out, "%s ", object->kind < sizeof kinds / sizeof kinds[0] && kinds[object->kind] ? kinds[object->kind] : "object");
    svg_text(out, picture->label(picture->user, object, name, sizeof name));
    if (handle) {
        fputs(" of ", out);
        svg_text(out, picture_short(picture, handle, name));
    }
    if (object->kind == VMM_OBJECT_HANDLE)
        put_handle(out, object);
    else if (object->kind == VMM_OBJECT_RESERVATION)
        fprintf(out, ", %s of addresses", text_size(object->size, size));
    else if (object->kind == VMM_OBJECT_ALLOCATION)
        fprintf(out, ", %s with memory of %s", text_size(object->size, size), value_location_text(object->location, where));
    else
        put_range(out, picture, object);
    if (object->kind == VMM_OBJECT_MAPPING)
        put_rights(out, picture, object);
}
