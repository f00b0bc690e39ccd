/* SPDX-License-Identifier: Apache-2.0 */
#include "host_window.h"

#include "os.h"

#define SMALLEST (UINT64_C(1) << 30) /* a smaller window is not useful */
#define MOVED_SIZE (UINT64_C(1) << 40)
#define HOST_END (UINT64_C(1) << 47) /* the end of user addresses on every supported system */

/* The next size to try after size was refused: up to a range that the program itself occupies, or a power of two. */
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

/* Reserves the profile's own addresses, as many of them as the host has free. */
static void back(struct host_window *window, const struct sim_profile *profile)
{
    uint64_t size = profile->va_end - profile->va_start, page = os_page_size();
    if (profile->va_start % page) /* LCOV_EXCL_BR_LINE: only with pages larger than a profile's granularity */
        return;                   /* LCOV_EXCL_LINE: the same */
    for (; size >= least(profile); size = smaller(profile, size))
        if (size % page == 0 && profile->va_start + size <= HOST_END && os_reserve(profile->va_start, size)) {
            window->backed = window->start + size;
            return;
        }
}

static void back_context(struct host_window *window, const struct sim_profile *profile)
{
    if (!window->context || host_window_holds(window, window->context, 2 * profile->va_chunk))
        return;
    if (os_reserve(window->context, 2 * profile->va_chunk))
        window->context_backed = 2 * profile->va_chunk;
}

/* Moves the whole span to other addresses if more of it can be backed there. Backs at most MOVED_SIZE, so that addresses stay
 * free for others. */
static void move(struct host_window *window, const struct sim_profile *profile)
{
    uint64_t span = profile->va_end - profile->va_start, size = span < MOVED_SIZE ? span : MOVED_SIZE, start;
    uint64_t alignment = profile->va_chunk > profile->va_granularity ? profile->va_chunk : profile->va_granularity;
    if (alignment < os_page_size())  /* LCOV_EXCL_BR_LINE: only with pages larger than a profile's granularity */
        alignment = os_page_size();  /* LCOV_EXCL_LINE: the same */
    for (; size >= least(profile) && size > window->backed - window->start; size = smaller(profile, size))
        if (size % os_page_size() == 0 && os_reserve_anywhere(size, alignment, &start)) {
            host_window_close(window);
            *window = (struct host_window){.start = start, .end = start + span, .backed = start + size};
            return;
        }
}

/* Are enough addresses backed to map all memory of the machine at once? */
static bool enough(const struct host_window *window, const struct sim_profile *profile)
{
    uint64_t backed = window->backed - window->start;
    return backed >= profile->device_memory * (uint64_t)profile->devices ||
           backed == profile->va_end - profile->va_start;
}

void host_window_open(struct host_window *window, const struct sim_profile *profile, enum host_window_choice choice)
{
    *window = (struct host_window){.start = profile->va_start, .end = profile->va_end, .backed = profile->va_start,
                                   .context = profile->va_context};
    if (choice == HOST_WINDOW_NONE || profile->va_granularity % os_page_size())
        return;
    back(window, profile);
    if (choice == HOST_WINDOW_AUTO && !enough(window, profile))
        move(window, profile);
    if (window->backed > window->start)
        back_context(window, profile);
}

void host_window_close(struct host_window *window)
{
    os_unreserve(window->start, window->backed - window->start); /* does nothing for 0 bytes */
    os_unreserve(window->context, window->context_backed);
    window->backed = window->start;
    window->context_backed = 0;
}

static bool inside(uint64_t address, uint64_t size, uint64_t start, uint64_t end)
{
    return address >= start && address < end && size <= end - address;
}

bool host_window_holds(const struct host_window *window, uint64_t address, uint64_t size)
{
    return inside(address, size, window->start, window->backed) ||
           inside(address, size, window->context, window->context + window->context_backed);
}
