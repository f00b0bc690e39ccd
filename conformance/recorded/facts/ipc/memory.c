/* SPDX-License-Identifier: Apache-2.0 */
/* Cases about memory: what can be shared, where a handle leads, who may open it, and how long it lives. Part of ../ipc.c, which
 * includes it. */

/* K: every kind of address, at its start, inside, at its end; then the handle, where there is one, opened by another process. */
static void kinds_of_address(void)
{
    static const char *const kinds[] = {"alloc", "pitch", "pool", "hostalloc", "malloc", "registered", "vmm", "vmmro", "vmmnone",
                                        "vmmhost", "reserved"};
    static const char *const offsets[] = {"", "+1", "+4", "+256", "+512", "+4K", "+64K", "+1M", "+2097151", "+2M", "-1"};
    char name[64], steps[2048];
    for (size_t k = 0; k < COUNT(kinds); k++) {
        snprintf(name, sizeof name, "%s", kinds[k]);
        snprintf(steps, sizeof steps, "A %s 0 2M | A mark 0 7 2M | A attrs 0", kinds[k]);
        for (size_t o = 0; o < COUNT(offsets); o++)
            snprintf(steps + strlen(steps), sizeof steps - strlen(steps), " | A get h%zu 0%s", o, offsets[o]);
        snprintf(steps + strlen(steps), sizeof steps - strlen(steps),
                 " | . same h0 h1 | . same h0 h5 | . same h0 h6 | B open 0 h0 1 | B peek 0 | B range 0");
        snprintf(steps + strlen(steps), sizeof steps - strlen(steps), " | B open 1 h6 1 | B peek 1 | B compare 0 1");
        add_made('K', 1, name, "%s", steps);
    }
    add_made('K', 1, "freed", "A alloc 0 4M | A get h0 0 | A free 0 | A get h1 0 | A get h2 0+1M | B open 0 h0 1");
    add_made('K', 1, "freed_small", "A alloc 0 100 | A alloc 1 100 | A free 0 | A get h1 0 | A get h2 1 | B open 0 h2 1");
    add_made('K', 1, "again_same_address",
             "A alloc 0 4M | A get h0 0 | A move 1 0 | A free 0 | A alloc 0 4M | A compare 0 1 | A mark 0 5 4M | A get h1 0 | "
             ". same h0 h1 | B open 1 h1 1 | B peek 1");
    add_made('K', 1, "odd_addresses",
             "A set 0 0 | A get h0 0 | A set 0 1 | A get h0 0 | A set 0 0x1000 | A get h0 0 | A set 0 0x7fff00000000 | A get h0 0 | "
             "A set 0 0xffffffffffffffff | A get h0 0 | A set 0 0x8000000000000000 | A get h0 0 | A set 0 0x100000000000000 | A get h0 0");
    add_made('K', 1, "opened",
             "A alloc 0 4M | A get h0 0 | B open 0 h0 1 | B get h1 0 | B get h1 0+1M | B attrs 0 | B attrs 0+4K | C open 0 h1 1");
    add_made('K', 1, "same_twice",
             "A alloc 0 4M | A get h0 0 | A get h1 0 | . same h0 h1 | A get h2 0+1 | . same h0 h2 | A get h3 0+2M | . same h0 h3 | "
             "B open 0 h0 1 | A get h4 0 | . same h0 h4 | A alloc 1 4M | A get h5 1 | . same h0 h5");
}

/* B: allocations of one size that the driver packs into a block: where do their handles lead? */
static void blocks(void)
{
    static const char *const block_sizes[] = {"1", "100", "512", "4K", "64K", "256K", "512K", "1M", "1048577", "2M", "2097153", "3M",
                                        "4M", "16M", "32M"};
    char name[64];
    for (size_t s = 0; s < COUNT(block_sizes); s++) {
        const char *n = block_sizes[s];
        snprintf(name, sizeof name, "of_%s", n);
        add_made('B', 1, name,
                 "A alloc 0 %s | A alloc 1 %s | A alloc 2 %s | A mark 0 1 %s | A mark 1 2 %s | A mark 2 3 %s | A range 0 | A range 1 | A get h0 0 | A get h1 1 | A get h2 2 | "
                 ". same h0 h1 | . same h0 h2 | B open 0 h0 1 | B peek 0 | B range 0 | "
                 "B open 1 h1 1 | B peek 1 | B range 1 | B open 2 h2 1 | B peek 2 | "
                 "B range 2 | B attrs 2 | B close 1 | B peek 0 | B peek 1 | B peek 2 | B close 0 | B peek 0 | B peek 2 | B close 2 | "
                 "B peek 2 | B close 2",
                 n, n, n, n, n, n);
    }
    add_made('B', 1, "beyond_the_end", /* what of the block is visible besides the allocation? */
             "A alloc 0 4K | A alloc 1 4K | A alloc 2 4K | A mark 0 1 4K | A mark 1 2 4K | A mark 2 3 4K | A get h1 1 | "
             "B open 0 h1 1 | B peek 0 | B peek 0+4K | B peek 0-4K | B range 0+4K | B range 0-4K | B fill 0+4K 9 1 | A read 2 | "
             "B attrs 0+4K | B attrs 0-4K | B read 0+1M | B range 0+1M");
    add_made('B', 1, "sibling_freed",
             "A alloc 0 4K | A alloc 1 4K | A mark 0 1 4K | A mark 1 2 4K | A get h0 0 | A get h1 1 | B open 0 h0 1 | B open 1 h1 1 | "
             "A free 0 | B peek 1 | B peek 0 | A peek 1 | B close 0 | B peek 1 | B close 1");
    add_made('B', 1, "one_of_two_open",
             "A alloc 0 4K | A alloc 1 4K | A mark 0 1 4K | A mark 1 2 4K | A get h1 1 | A get h0 0 | B open 1 h1 1 | B peek 1 | B close 1 | "
             "B open 0 h0 1 | B peek 0");
    add_made('B', 1, "mixed_sizes",
             "A alloc 0 100 | A alloc 1 300K | A alloc 2 3M | A alloc 3 40M | A mark 0 1 512 | A mark 1 2 300K | A mark 2 3 3M | "
             "A mark 3 4 40M | A get h0 0 | A get h1 1 | A get h2 2 | A get h3 3 | B open 0 h0 1 | B open 1 h1 1 | B open 2 h2 1 | "
             "B open 3 h3 1 | B peek 0 | B peek 1 | B peek 2 | B peek 3 | B range 0 | B range 1 | B range 2 | B range 3 | "
             "B peek 3+39M | B range 3+39M | B range 3+40M");
}

/* O: opening and closing. */
static void opening(void)
{
    static const struct script all[] = {
        {"same_process", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | A open 1 h0 1 | A compare 1 0 | A peek 1 | A close 1 | A close 0 | A peek 0", 0},
        {"child", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B peek 0 | B peek 0+2M | B peek 0+4194300 | B read 0+4M | "
                  "B fill 0 65 4M | B csync | A read 0 | A read 0+4194303 | A fill 0 66 4M | B read 0 | B copy 0+2M 0 1M | B close 0 | "
                  "B read 0 | B fill 0 1 1 | A read 0", 0},
        {"twice", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B open 1 h0 1 | B compare 0 1 | B close 0 | B peek 1 | B close 1 | "
                  "B peek 1 | B close 1", 0},
        {"thrice_close_all", "A alloc 0 4M | A get h0 0 | B open 0 h0 1 | B open 1 h0 1 | B open 2 h0 1 | B close 0 | B close 0 | B close 0 | B close 0", 0},
        {"two_children", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | C open 0 h0 1 | B fill 0 7 4M | C read 0 | A read 0 | "
                         "B close 0 | C read 0 | C close 0 | A read 0", 0},
        {"reopen", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B close 0 | B open 1 h0 1 | B compare 0 1 | B peek 1 | B close 1", 0},
        {"close_wrong", "A alloc 0 4M | A get h0 0 | B open 0 h0 1 | B close 0+1 | B close 0+512 | B close 0+2M | B close 0+4M | B close 0-1 | "
                        "B peek 0 | B set 3 0 | B close 3 | B set 3 4096 | B close 3 | B set 3 0xffffffffffffffff | B close 3 | B alloc 1 4M | "
                        "B close 1 | B vmm 2 2M | B close 2 | B hostalloc 4 4K | B close 4 | B malloc 5 4K | B close 5 | B peek 0 | B close 0", 0},
        {"close_pool", "A pool 0 4M | A close 0", 0},
        {"free_opened", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B free 0 | B peek 0 | B free 0+1M | B freehost 0 | B freeasync 0 | "
                        "B csync | B peek 0 | A peek 0 | B close 0 | B peek 0 | B close 0", 0},
        {"exporter_closes", "A alloc 0 4M | A get h0 0 | B open 0 h0 1 | A close 0 | A peek 0 | B peek 0", 0},
        {"write_after_close", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B close 0 | B fill 0 1 16 | B attrs 0 | B range 0 | B csync", 0},
        {"v1", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open1 0 h0 1 | B peek 0 | B open 1 h0 1 | B compare 0 1 | B open1 2 h0 0 | B close 0", 0},
        {"old_in_same_process", "A alloc 0 4M | A get h0 0 | A open1 1 h0 1 | A compare 1 0", 0},
        {"chain", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B get h1 0 | . same h0 h1 | C open 0 h1 1 | C peek 0 | A end | C peek 0", 0},
        {"both_ways", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B alloc 0 4M | B mark 0 2 4M | B get h1 0 | A open 1 h1 1 | B open 1 h0 1 | "
                      "A peek 1 | B peek 1 | A copy 1 0 4M | B peek 0 | A close 1 | B close 1", 0},
        {"many", "A alloc 0 4M | A alloc 1 4M | A alloc 2 8M | A get h0 0 | A get h1 1 | A get h2 2 | B open 0 h2 1 | B open 1 h1 1 | "
                 "B open 2 h0 1 | B range 0 | B range 1", 0},
        {"kernel_order", "A alloc 0 4M | A get h0 0 | B open 0 h0 1 | A stream 0 1 | A block 0 | A fillasync 0 8 0 | B read 0 | A unblock | A ssync 0 | B read 0", 0},
        {"close_in_flight", "A alloc 0 4M | A fill 0 1 4M | A get h0 0 | B open 0 h0 1 | B stream 0 1 | B block 0 | B fillasync 0 8 0 | B pause | "
                            "B unblock | B close 0 | B ssync 0 | A read 0", 0},
        {"rights", "A alloc 0 4M | A get h0 0 | B open 0 h0 1 | B rights 0 | B peek 0 | B attrs 0 | A rights 0", 0},
        {"attributes", "A alloc 0 4M | A attrs 0 | A get h0 0 | A attrs 0 | A attrs 0+4K | B open 0 h0 1 | B attrs 0 | B attrs 0+4K | B attrs 0+4194303 | "
                       "B attrs 0+4M | B range 0 | B range 0+4K | B range 0+4M | B close 0 | B attrs 0 | B range 0", 0},
        {"attributes_small", "A alloc 0 100 | A attrs 0 | A get h0 0 | A attrs 0 | B open 0 h0 1 | B attrs 0 | B attrs 0+99 | B attrs 0+100 | B range 0 | B range 0+99", 0},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        add_case('O', all[i]);
}

/* G: flags, and refusals of opening with two causes. */
static void flags(void)
{
    static const char *const values[] = {"0", "1", "2", "3", "4", "5", "8", "16", "256", "0x80000000", "0xffffffff"};
    char steps[2048];
    for (int form = 0; form < 2; form++) {
        snprintf(steps, sizeof steps, "A alloc 0 4M | A get h0 0 | . zero h1");
        for (size_t i = 0; i < COUNT(values); i++)
            snprintf(steps + strlen(steps), sizeof steps - strlen(steps), " | B open%s 0 h0 %s", form ? "1" : "", values[i]);
        add_made('G', 1, form ? "v1" : "v2", "%s | B open%s n h0 1 | B open%s n h0 0 | B open%s n h1 1 | B open%s 0 h1 0 | B open%s 0 h1 1", steps,
                 form ? "1" : "", form ? "1" : "", form ? "1" : "", form ? "1" : "", form ? "1" : "");
    }
    add_made('G', 1, "get_null", "A alloc 0 4M | A get n 0 | A set 1 0 | A get n 1");
    add_made('G', 1, "unsupported", "A attribute 125 | A attribute 41");
    add_made('G', 1, "null_then_open", "A alloc 0 4M | A get h0 0 | B open n h0 1 | B open 0 h0 1 | B close 0 | B close 0");
}

/* H: handles that are not as they were made. What a driver does with single inverted bits depends on the bit: most it does not
 * look at, some lead to other memory, and some end the process. */
static void forged(void)
{
    add_made('H', 1, "zeros", ". zero h0 | B open 0 h0 1 | B csync");
    add_made('H', 1, "ones", ". ones h0 | B open 0 h0 1 | B csync");
    add_made('H', 1, "zeros_with_exporter", "A alloc 0 4M | A get h1 0 | . zero h0 | B open 0 h0 1 | B open 1 h1 1");
    add_made('H', 1, "of_an_event", "A event 0 6 | A getev h0 0 | B open 0 h0 1");
}

/* L: how long memory and handles live. */
static void lives(void)
{
    static const struct script all[] = {
        {"freed_before_open", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | A free 0 | B open 0 h0 1 | B csync", 0},
        {"freed_while_open", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | A free 0 | B peek 0 | B fill 0 3 4M | B read 0 | B attrs 0 | "
                             "C open 0 h0 1 | B open 1 h0 1 | B close 0 | B read 0 | B open 2 h0 1", 0},
        {"freed_small_while_open", "A alloc 0 4K | A mark 0 1 4K | A get h0 0 | B open 0 h0 1 | A free 0 | B peek 0 | C open 0 h0 1 | B close 0 | B peek 0", 0},
        {"ended_before_open", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | A end | B open 0 h0 1 | B csync", 0},
        {"ended_before_open_known", "A alloc 0 4M | A get h0 0 | B open 0 h0 1 | B close 0 | A end | B open 0 h0 1", 0},
        {"ended_while_open", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | A end | B pause | B peek 0 | B fill 0 3 4M | B read 0 | "
                             "B open 1 h0 1 | B compare 0 1 | C open 0 h0 1 | B close 0 | B read 0 | B close 0 | B close 0", 0},
        {"killed_before_open", "A alloc 0 4M | A get h0 0 | A kill | B open 0 h0 1", 0},
        {"killed_while_open", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | A kill | B pause | B peek 0 | B fill 0 3 4M | B read 0 | B close 0 | B peek 0", 0},
        {"importer_killed", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B fill 0 3 4M | B kill | A pause | A read 0 | A get h1 0 | . same h0 h1 | "
                            "C open 0 h0 1 | C read 0 | A free 0 | C read 0", 0},
        {"exporter_reset", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | A reset 0 | B peek 0 | C open 0 h0 1 | A alloc 1 4M | A get h1 1 | C open 1 h1 1", 0},
        {"importer_reset", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B reset 0 | B peek 0 | B close 0 | B open 1 h0 1 | B peek 1 | A peek 0", 0},
        {"exporter_context_destroyed", "A context new | A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | A context_destroy | B peek 0 | C open 0 h0 1", 0},
        {"importer_context_destroyed", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B context new | B open 0 h0 1 | B context_destroy | B context 0 | B peek 0 | "
                                       "B close 0 | B open 1 h0 1 | B peek 1 | A peek 0", 0},
        {"importer_end_leaves", "A alloc 0 4M | A get h0 0 | B open 0 h0 1 | B end | C open 0 h0 1 | C peek 0 | A free 0", 0},
        {"new_process_same_handle", "A alloc 0 4M | A get h0 0 | A end | A alloc 0 4M | B open 0 h0 1", 0},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        add_case('L', all[i]);
}

/* C: contexts, captures, and what has not begun. */
static void contexts_of(void)
{
    static const struct script all[] = {
        {"before_init", "A raw | A get h0 0 | A get n 0 | A open 0 h0 1 | A open n h0 0 | A open1 0 h0 1 | A close 0 | A getev h0 n | A openev 0 h0", 0},
        {"initialised_only", "A raw | A init | A get h0 0 | A open 0 h0 1 | A close 0 | A getev h0 n | A openev 0 h0", 0},
        {"no_context", "A alloc 0 4M | A get h0 0 | A context none | A get h1 0 | . same h0 h1 | B alloc 1 4M | B context none | B open 0 h0 1 | B open 0 h0 0 | "
                       "B open n h0 1 | B close 1 | B context 0 | B open 0 h0 1 | B context none | B close 0 | B context 0 | B close 0", 0},
        {"exporter_other_context", "A alloc 0 4M | A mark 0 1 4M | A context new | A get h0 0 | B open 0 h0 1 | B peek 0 | A context 0 | A get h1 0 | . same h0 h1", 0},
        {"importer_other_context", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B open 0 h0 1 | B context new | B open 1 h0 1 | B compare 0 1 | B peek 0 | B peek 1 | "
                                   "B attrs 0 | B close 0 | B context 0 | B peek 0 | B close 0", 0},
        {"importer_new_context", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B context new | B open 0 h0 1 | B attrs 0 | B context 0 | B attrs 0 | B peek 0 | "
                                 "B open 1 h0 1 | B close 0 | B context newest | B close 0", 0},
        {"of_other_context", "A context new | A alloc 0 4M | A mark 0 1 4M | A get h0 0 | A context 0 | A get h1 0 | . same h0 h1 | B open 0 h0 1 | B peek 0 | B attrs 0", 0},
        {"capture_global", "A alloc 0 4M | A stream 0 1 | A capture 0 0 | A get h0 0 | A endcapture 0 | A get h0 0 | B stream 0 1 | B capture 0 0 | B open 0 h0 1 | "
                           "B endcapture 0 | B open 0 h0 1 | B capture 0 0 | B close 0 | B endcapture 0", 0},
        {"capture_relaxed", "A alloc 0 4M | A stream 0 1 | A capture 0 2 | A get h0 0 | A endcapture 0 | B stream 0 1 | B capture 0 2 | B open 0 h0 1 | B close 0 | "
                            "B endcapture 0", 0},
        {"in_flight_get", "A alloc 0 4M | A stream 0 1 | A block 0 | A fillasync 0 5 0 | A get h0 0 | A squery 0 | A unblock | A ssync 0", 0},
        {"in_flight_open", "A alloc 0 4M | A get h0 0 | B stream 0 1 | B block 0 | B open 0 h0 1 | B squery 0 | B unblock | B ssync 0", 0},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        add_case('C', all[i]);
}

/* F: what of the device's memory each step takes, as its own process sees it and another. */
static void free_memory_of(void)
{
    static const struct script all[] = {
        {"whole", "B note | A alloc 0 64M | B alloc 1 64M | A note | B note | A get h0 0 | A taken | B open 0 h0 1 | A taken | B taken | B open 1 h0 1 | B taken | "
                  "B close 0 | B close 0 | B taken | A taken | B open 0 h0 1 | A free 0 | A taken | B taken | B close 0 | B taken | A taken", 0},
        {"small", "B note | A alloc 0 4K | A alloc 1 4K | A note | B note | A get h0 0 | B open 0 h0 1 | B taken | A free 0 | A free 1 | A taken | B close 0 | A taken", 0},
        {"handle_kept", "B csync | A alloc 0 64M | A note | A get h0 0 | A free 0 | A taken | A alloc 0 64M | A taken", 0},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        add_case('F', all[i]);
}

/* D: two devices. */
static void two_devices(void)
{
    static const struct script all[] = {
        {"open_on_other", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B context 1 | B open 0 h0 1 | B peek 0 | B attrs 0 | B range 0 | B fill 0 4 4M | A read 0 | B close 0 | B peek 0", 2},
        {"open_on_other_flags0", "A alloc 0 4M | A get h0 0 | B context 1 | B open 0 h0 0 | B open1 0 h0 0 | B open 0 h0 1", 2},
        {"open_on_both", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B context 1 | B open 0 h0 1 | B context 0 | B open 1 h0 1 | B compare 0 1 | B peek 0 | B peek 1 | "
                         "B close 1 | B peek 0 | B close 0 | B context 1 | B peek 0 | B close 0", 2},
        {"other_reaches_opened", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B context 1 | B context 0 | B open 0 h0 1 | B context 1 | B peek 0 | B fill 0 6 16 | B peer 0 | "
                                 "B peek 0 | B fill 0 6 16 | A read 0", 2},
        {"enabled_by_open", "A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B context 0 | B alloc 2 4M | B mark 2 2 4M | B context 1 | B fill 2 1 16 | B open 0 h0 1 | B fill 2 1 16 | "
                            "B peer 0 | B close 0 | B fill 2 1 16 | B nopeer 0", 2},
        {"peer_before_open", "A alloc 0 4M | A get h0 0 | B context 0 | B context 1 | B peer 0 | B open 0 h0 1 | B close 0 | B nopeer 0 | B fill 0 1 16", 2},
        {"of_device_1", "A context 1 | A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B context 1 | B open 0 h0 1 | B peek 0 | B attrs 0 | B close 0", 2},
        {"of_device_1_from_0", "A context 1 | A alloc 0 4M | A mark 0 1 4M | A get h0 0 | B context 0 | B open 0 h0 1 | B peek 0 | B attrs 0 | B close 0", 2},
        {"get_of_other_device", "A context 1 | A alloc 0 4M | A mark 0 1 4M | A context 0 | A get h0 0 | A context 1 | A get h1 0 | . same h0 h1 | B context 1 | B open 0 h0 1 | B peek 0 | B attrs 0", 2},
        {"close_on_other", "A alloc 0 4M | A get h0 0 | B context 1 | B context 0 | B open 0 h0 1 | B context 1 | B close 0 | B context 0 | B close 0", 2},
        {"same_process", "A alloc 0 4M | A get h0 0 | A context 1 | A open 1 h0 1 | A peek 1", 2},
        {"event_of_other", "A event 0 6 | A getev h0 0 | B context 1 | B openev 0 h0 | B stream 0 1 | B wait 0 0 | B query 0 | B record 0 0 | B sync 0 | A query 0", 2},
        {"event_of_device_1", "A context 1 | A event 0 6 | A context 0 | A getev h0 0 | A context 1 | A getev h1 0 | . same h0 h1 | B context 0 | B openev 0 h0 | B query 0 | B record 0 n", 2},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        add_case('D', all[i]);
}

static void memory_cases(void)
{
    free_memory_of();
    kinds_of_address();
    blocks();
    opening();
    flags();
    forged();
    lives();
    contexts_of();
    two_devices();
}
