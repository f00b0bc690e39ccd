/* SPDX-License-Identifier: Apache-2.0 */
/* E: events that processes share. Part of ../ipc.c, which includes it.
 *
 * A stream is held by a host function until "unblock", so that an event is certainly not complete. "eventually" polls an event. */

static void event_cases(void)
{
    static const char *const flags_of[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    static const struct script all[] = {
        {"same_twice", "A event 0 6 | A getev h0 0 | A getev h1 0 | . same h0 h1 | A event 1 6 | A getev h2 1 | . same h0 h2 | "
                       "B openev 0 h0 | B openev 1 h0 | B same_event 0 1 | B openev 2 h2 | B same_event 0 2 | B destroy 0 | B query 1 | B destroy 1 | B query 2", 0},
        {"same_process", "A event 0 6 | A getev h0 0 | A openev 1 h0 | A same_event 0 1 | A query 1", 0},
        {"never_recorded", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B query 0 | B sync 0 | B stream 0 1 | B wait 0 0 | B ssync 0", 0},
        {"recorded_before_open", "A event 0 6 | A record 0 n | A getev h0 0 | B openev 0 h0 | B eventually 0 | B sync 0", 0},
        {"handle_before_record", "A event 0 6 | A getev h0 0 | A record 0 n | A sync 0 | B openev 0 h0 | B query 0", 0},
        {"pending", "A event 0 6 | A stream 0 1 | A getev h0 0 | B openev 0 h0 | B query 0 | A block 0 | A record 0 0 | A query 0 | B query 0 | A unblock | A sync 0 | "
                    "B eventually 0 | B sync 0 | B query 0", 0},
        {"pending_then_sync", "A event 0 6 | A stream 0 1 | A getev h0 0 | B openev 0 h0 | A block 0 | A record 0 0 | B query 0 | A unblock | B sync 0 | A query 0", 0},
        {"pending_before_open", "A event 0 6 | A stream 0 1 | A block 0 | A record 0 0 | A getev h0 0 | B openev 0 h0 | B query 0 | A unblock | B sync 0 | A query 0", 0},
        {"stream_waits", "A event 0 6 | A stream 0 1 | A getev h0 0 | B openev 0 h0 | A block 0 | A record 0 0 | B stream 0 1 | B wait 0 0 | B squery 0 | A unblock | "
                         "B ssync 0 | B squery 0", 0},
        {"wait_keeps_old_record", "A event 0 6 | A stream 0 1 | A stream 1 1 | A getev h0 0 | B openev 0 h0 | A block 0 | A record 0 0 | B stream 0 1 | B wait 0 0 | "
                                  "A record 0 1 | A query 0 | B query 0 | B squery 0 | A squery 1 | A unblock | A ssync 1 | A sync 0 | B sync 0 | B ssync 0", 0},
        {"wait_before_record", "A event 0 6 | A stream 0 1 | A getev h0 0 | B openev 0 h0 | B stream 0 1 | B wait 0 0 | A block 0 | A record 0 0 | B squery 0 | A unblock | B ssync 0", 0},
        {"recorded_again", "A event 0 6 | A stream 0 1 | A getev h0 0 | A record 0 n | A sync 0 | B openev 0 h0 | B query 0 | A block 0 | A record 0 0 | B query 0 | "
                           "A unblock | B sync 0 | B query 0", 0},
        {"recorded_twice_done", "A event 0 6 | A stream 0 1 | A stream 1 1 | A getev h0 0 | B openev 0 h0 | A record 0 0 | A ssync 0 | A block 1 | A record 0 1 | "
                                "B query 0 | A record 0 0 | A squery 0 | B query 0 | A unblock | A ssync 1 | A ssync 0 | B sync 0", 0},
        {"later_work_waits", "A event 0 6 | A stream 0 1 | A stream 1 1 | A getev h0 0 | A block 0 | A record 0 0 | A record 0 1 | A squery 1 | A unblock | A ssync 1", 0},
        {"not_shared_twice", "A event 0 6 | A stream 0 1 | A stream 1 1 | A block 0 | A record 0 0 | A record 0 1 | A squery 1 | A query 0 | A unblock | A ssync 1", 0},
        {"ended_well", "A event 0 6 | A getev h0 0 | A record 0 n | A sync 0 | A destroy 0 | A reset 0 | A end | B openev 0 h0", 0},
        {"released", "A event 0 6 | A getev h0 0 | A release 0 | B openev 0 h0", 0},
        {"many_destroyed", "A event 0 6 | A getev h0 0 | A destroy 0 | A event 1 6 | A getev h1 1 | . same h0 h1 | B openev 0 h0 | B openev 1 h1 | A stream 0 1 | A block 0 | "
                           "A record 1 0 | B query 0 | B query 1 | A unblock", 0},
        {"importer_records", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B stream 0 1 | B block 0 | B record 0 0 | B query 0 | A query 0 | A stream 0 1 | A wait 0 0 | "
                             "A squery 0 | B unblock | A ssync 0 | A sync 0 | A query 0 | B query 0", 0},
        {"both_record", "A event 0 6 | A stream 0 1 | A getev h0 0 | B openev 0 h0 | B stream 0 1 | A block 0 | A record 0 0 | B record 0 0 | B query 0 | A query 0 | "
                        "B squery 0 | A unblock | A ssync 0 | B ssync 0 | A sync 0 | B sync 0 | A query 0", 0},
        {"order_of_memory", "A alloc 0 4M | A fill 0 1 4M | A get h0 0 | A event 0 6 | A stream 0 1 | A getev h1 0 | B open 0 h0 1 | B openev 0 h1 | A block 0 | A fillasync 0 9 0 | "
                            "A record 0 0 | B stream 0 1 | B wait 0 0 | B alloc 1 4M | A unblock | B ssync 0 | B read 0", 0},
        {"exporter_destroys", "A event 0 6 | A getev h0 0 | A record 0 n | B openev 0 h0 | A destroy 0 | B eventually 0 | B sync 0 | B stream 0 1 | B wait 0 0 | B record 0 0 | "
                              "B ssync 0 | B eventually 0 | C openev 0 h0 | B destroy 0", 0},
        {"exporter_destroys_pending", "A event 0 6 | A stream 0 1 | A getev h0 0 | B openev 0 h0 | A block 0 | A record 0 0 | A destroy 0 | B query 0 | A unblock | A ssync 0 | B eventually 0", 0},
        {"destroyed_before_open", "A event 0 6 | A getev h0 0 | A destroy 0 | B openev 0 h0", 0},
        {"importer_destroys", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B destroy 0 | A query 0 | A record 0 n | A sync 0 | B openev 1 h0 | B query 1 | B query 0", 0},
        {"destroy_twice", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B destroy 0 | B destroy 0", 0},
        {"exporter_ends_before_open", "A event 0 6 | A getev h0 0 | A end | B openev 0 h0", 0},
        {"exporter_ends", "A event 0 6 | A getev h0 0 | A record 0 n | A sync 0 | B openev 0 h0 | A end | B pause | B query 0 | B sync 0 | B stream 0 1 | B wait 0 0 | "
                          "B record 0 0 | B ssync 0 | B eventually 0 | C openev 0 h0 | B destroy 0", 0},
        {"exporter_killed", "A event 0 6 | A getev h0 0 | A record 0 n | A sync 0 | B openev 0 h0 | A kill | B pause | B query 0 | B destroy 0", 0},
        {"exporter_killed_pending", "A event 0 6 | A stream 0 1 | A getev h0 0 | B openev 0 h0 | A block 0 | A record 0 0 | B query 0 | A kill | B pause | B eventually 0 | B destroy 0", 0},
        {"importer_killed", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B record 0 n | B kill | A query 0 | A record 0 n | A sync 0 | C openev 0 h0 | C query 0", 0},
        {"importer_killed_pending", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B stream 0 1 | B block 0 | B record 0 0 | A query 0 | B kill | A pause | A eventually 0 | A destroy 0", 0},
        {"two_importers", "A event 0 6 | A getev h0 0 | B openev 0 h0 | C openev 0 h0 | B stream 0 1 | B block 0 | B record 0 0 | C query 0 | A query 0 | B unblock | C sync 0 | A query 0", 0},
        {"chain", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B getev h1 0 | . same h0 h1 | C openev 0 h1 | C query 0", 0},
        {"elapsed", "A event 0 6 | A event 1 6 | A getev h0 0 | A record 0 n | A record 1 n | A csync | A elapsed 0 1 | B openev 0 h0 | B event 1 0 | B record 1 n | B csync | "
                    "B elapsed 0 1 | B elapsed 1 0 | B elapsed 0 0", 0},
        {"forged", ". zero h0 | B openev 0 h0 | . ones h0 | B openev 0 h0 | A event 0 6 | A getev h1 0 | B openev n h1 | B openev n h0 | A alloc 0 4M | A get h2 0 | B openev 0 h2 | "
                   "B open 0 h1 1 | A getev n 0 | A getev n n | A getev h3 n", 0},
        {"no_context", "A event 0 6 | A context none | A getev h0 0 | B alloc 0 4K | B context none | B openev 0 h0 | B openev n h0 | B context 0 | B openev 0 h0 | B context none | "
                       "B query 0 | B sync 0 | B record 0 n | B destroy 0", 0},
        {"other_context", "A event 0 6 | A context new | A getev h0 0 | B context new | B openev 0 h0 | B context 0 | B query 0 | B record 0 n | B stream 0 1 | B wait 0 0 | "
                          "B openev 1 h0 | B same_event 0 1 | B record 1 n", 0},
        {"context_destroyed", "A context new | A event 0 6 | A getev h0 0 | B openev 0 h0 | A context_destroy | B query 0 | C openev 0 h0", 0},
        {"exporter_reset", "A event 0 6 | A getev h0 0 | B openev 0 h0 | A reset 0 | B query 0 | C openev 0 h0", 0},
        {"importer_reset", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B reset 0 | B query 0 | B openev 1 h0 | B query 1", 0},
        {"capture", "A event 0 6 | A getev h0 0 | A stream 0 1 | A capture 0 0 | A getev h1 0 | A record 0 0 | A endcapture 0 | A capture 0 2 | A record 0 0 | A endcapture 0 | "
                    "B openev 0 h0 | B stream 0 1 | B capture 0 2 | B record 0 0 | B wait 0 0 | B endcapture 0 | B capture 0 0 | B openev 1 h0 | B endcapture 0", 0},
        {"capture_wait", "A event 0 6 | A getev h0 0 | B openev 0 h0 | B stream 0 1 | B capture 0 2 | B wait 0 0 | B query 0 | B endcapture 0", 0},
        {"streams", "A event 0 6 | A getev h0 0 | A record 0 n | A record 0 L | A record 0 P | B openev 0 h0 | B record 0 n | B record 0 P | B wait n 0 | B wait P 0 | B csync", 0},
    };
    char name[64];
    for (size_t f = 0; f < COUNT(flags_of); f++) {
        snprintf(name, sizeof name, "flags_%s", flags_of[f]);
        add_made('E', 1, name, "A event 0 %s | A getev h0 0 | B openev 0 h0 | B query 0 | B record 0 n | B sync 0 | A query 0", flags_of[f]);
    }
    for (size_t i = 0; i < COUNT(all); i++)
        add_case('E', all[i]);
}
