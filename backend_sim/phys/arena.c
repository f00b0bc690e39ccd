/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include "os.h"

#define SMALLEST (UINT64_C(1) << 30) /* with fewer addresses it is not worth having */
#define ELSEWHERE (UINT64_C(1) << 40)
#define HOST_END (UINT64_C(1) << 47) /* of what a program's addresses can be on every system that this runs on */

/* The next size to try after size was refused: up to a range that the machine's own program takes, or a power of two. */
static uint64_t smaller(const struct sim_profile *profile, uint64_t size)
{
    uint64_t next = UINT64_C(1) << 63;
    while (next >= size)
        next /= 2;
    for (int i = 0; i < SIM_MAX_TAKEN && profile->va_taken[i].end; i++) {
        uint64_t up_to = profile->va_taken[i].start - profile->va_start;
        if (up_to < size && up_to > next)
            next = up_to;
    }
    return next;
}

static uint64_t least(const struct sim_profile *profile)
{
    uint64_t span = profile->va_end - profile->va_start;
    return span < SMALLEST ? span : SMALLEST;
}

/* In place: the addresses of the profile. */
static void back(struct arena *arena, const struct sim_profile *profile)
{
    uint64_t size = profile->va_end - profile->va_start, page = os_page_size();
    if (profile->va_start % page) /* LCOV_EXCL_BR_LINE: where pages are larger than a profile's granules alone */
        return;                   /* LCOV_EXCL_LINE: the same */
    for (; size >= least(profile); size = smaller(profile, size))
        if (size % page == 0 && profile->va_start + size <= HOST_END && os_reserve(profile->va_start, size)) {
            arena->backed = arena->start + size;
            return;
        }
}

static void back_context(struct arena *arena, const struct sim_profile *profile)
{
    if (!arena->context || arena_holds(arena, arena->context, 2 * profile->va_chunk))
        return;
    if (os_reserve(arena->context, 2 * profile->va_chunk))
        arena->context_backed = 2 * profile->va_chunk;
}

/* Elsewhere: the same span, moved, if more of it can be backed than in place. Not all that there is, for others may
 * come. */
static void move(struct arena *arena, const struct sim_profile *profile)
{
    uint64_t span = profile->va_end - profile->va_start, size = span < ELSEWHERE ? span : ELSEWHERE, start;
    uint64_t alignment = profile->va_chunk > profile->va_granularity ? profile->va_chunk : profile->va_granularity;
    if (alignment < os_page_size())  /* LCOV_EXCL_BR_LINE: where pages are larger than a profile's granules alone */
        alignment = os_page_size();  /* LCOV_EXCL_LINE: the same */
    for (; size >= least(profile) && size > arena->backed - arena->start; size = smaller(profile, size))
        if (size % os_page_size() == 0 && os_reserve_anywhere(size, alignment, &start)) {
            arena_close(arena);
            *arena = (struct arena){.start = start, .end = start + span, .backed = start + size};
            return;
        }
}

/* What a machine's memory needs to be mapped all at once. */
static bool enough(const struct arena *arena, const struct sim_profile *profile)
{
    uint64_t backed = arena->backed - arena->start;
    return backed >= profile->device_memory * (uint64_t)profile->devices ||
           backed == profile->va_end - profile->va_start;
}

void arena_open(struct arena *arena, const struct sim_profile *profile, enum arena_choice choice)
{
    *arena = (struct arena){.start = profile->va_start, .end = profile->va_end, .backed = profile->va_start,
                            .context = profile->va_context};
    if (choice == ARENA_NONE || profile->va_granularity % os_page_size())
        return;
    back(arena, profile);
    if (choice == ARENA_AUTO && !enough(arena, profile))
        move(arena, profile);
    if (arena->backed > arena->start)
        back_context(arena, profile);
}

void arena_close(struct arena *arena)
{
    os_unreserve(arena->start, arena->backed - arena->start); /* where there are none nothing is done */
    os_unreserve(arena->context, arena->context_backed);
    arena->backed = arena->start;
    arena->context_backed = 0;
}

static bool inside(uint64_t address, uint64_t size, uint64_t start, uint64_t end)
{
    return address >= start && address < end && size <= end - address;
}

bool arena_holds(const struct arena *arena, uint64_t address, uint64_t size)
{
    return inside(address, size, arena->start, arena->backed) ||
           inside(address, size, arena->context, arena->context + arena->context_backed);
}
