#include "frames.h"

#include "os.h"

#define LONGEST (UINT64_C(1) << 52) /* of the file: beyond any machine's memory, below any system's limit */

void frames_init(struct frames *frames)
{
    frames->file = -1;
    frames->tried = false;
    holes_init(&frames->free, 0);
}

void frames_clear(struct frames *frames)
{
    if (frames->file >= 0)
        os_file_close(frames->file);
    holes_clear(&frames->free);
    frames_init(frames);
}

/* At the first use: a machine that is only asked questions makes no file. */
static bool opened(struct frames *frames)
{
    if (frames->tried)
        return frames->file >= 0;
    if (!holes_grant(&frames->free, 0, LONGEST))
        return false;
    frames->tried = true;
    frames->file = os_file_new();
    return frames->file >= 0;
}

uint64_t frames_take(struct frames *frames, uint64_t size)
{
    uint64_t place, page = os_page_size();
    if (size > LONGEST || !opened(frames))
        return FRAMES_NOWHERE;
    size = (size + page - 1) / page * page;
    if (!holes_find(&frames->free, size, page, 0, &place) || !os_file_grow(frames->file, place + size) ||
        !holes_take(&frames->free, place, size))
        return FRAMES_NOWHERE;
    return place;
}

void frames_give(struct frames *frames, uint64_t place, uint64_t size)
{
    uint64_t page = os_page_size();
    size = (size + page - 1) / page * page;
    os_file_clear(frames->file, place, size);
    holes_give(&frames->free, place, size);
}
