/* SPDX-License-Identifier: Apache-2.0 */
/* Group Q: two devices, cases that random calls found: free memory, and copies that begin in the other device's memory. A part of
 * ../edges.c, which includes it; strings for owners and rights are those of l_two_devices.c. */

/* The free memory of each device after every step, in G since the start. */
static void q_free_of_both(const char *id, i64 start[2])
{
    i64 now[2];
    for (int d = 0; d < 2; d++) {
        l_on(d);
        now[d] = (i64)free_memory();
        if (id == NULL)
            start[d] = now[d];
    }
    if (id)
        say(id, "%+lld %+lld KiB", (now[0] - start[0]) / 1024, (now[1] - start[1]) / 1024);
    l_on(0);
}

static void q_free(void)
{
    i64 start[2];
    l_init();
    CUdeviceptr p = l_place("01h.01");
    q_free_of_both(NULL, start);
    static const struct {
        int at;
        const char *rights;
    } steps[] = {{0, "03"}, {1, "13"}, {0, "13"}, {0, "10"}, {0, "13"}, {1, "03"}, {1, "00"}, {1, "01"}, {2, "03"},
                 {2, "13"}, {2, "h3"}, {4, "03+13"}, {5, "13+03"}, {4, "00+10"}, {5, "10+00"}};
    for (size_t i = 0; i < COUNT(steps); i++) {
        char id[64];
        CUresult r = l_give(p + (size_t)steps[i].at * G, G, steps[i].rights);
        snprintf(id, sizeof id, "Q.free.%zu.%d.%s.%s", i, steps[i].at, steps[i].rights, name_of(r));
        q_free_of_both(id, start);
    }
    for (size_t i = 0; i < 6; i++) {
        char id[64];
        cuMemUnmap(p + i * G, G);
        snprintf(id, sizeof id, "Q.free.unmapped%zu", i);
        q_free_of_both(id, start);
    }
    for (int round = 0; round < 3; round++) {
        char id[64];
        CUdeviceptr q = l_place("01");
        l_give(q, 2 * G, round == 1 ? "13+03" : "03+13");
        snprintf(id, sizeof id, "Q.free.again%d", round);
        q_free_of_both(id, start);
        CUdeviceptr many = reserve(64 * G);
        for (size_t i = 0; i < 64; i++) {
            Handle h = l_make(i % 2 ? '1' : '0', G);
            map(many + i * G, G, h);
            cuMemRelease(h);
            l_give(many + i * G, G, "03+13");
        }
        snprintf(id, sizeof id, "Q.free.many%d", round);
        q_free_of_both(id, start);
        cuMemUnmap(many, 64 * G);
        snprintf(id, sizeof id, "Q.free.many%d.unmapped", round);
        q_free_of_both(id, start);
        l_end(q);
        snprintf(id, sizeof id, "Q.free.again%d.ended", round);
        q_free_of_both(id, start);
    }
}

/* [first owner|host] across the seam; the rights of the host's part in the order of the string, d is the context's device. */
struct q_seam {
    int ctx, home; /* the context of the copy, and of the earlier mappings */
    char owner;
    const char *rights;
    unsigned what;
};

static const char *const q_rights[] = {"d3+n1", "d3 n1", "n1 d3", "n3 d3", "03 13 n3", "13 03 n3", "03 n3 13", "n3 03 13"};

static void q_ask_seam(const struct q_seam *seam, char *id, int run)
{
    char rights[16], owners[3] = {seam->owner, 'h', 0};
    const size_t half = 8;
    snprintf(id, CASE_ID, "Q.seam.%s.ctx%d.home%d.%c_%s", m_what[seam->what], seam->ctx, seam->home, seam->owner,
             seam->rights);
    if (!run)
        return;
    l_on(seam->home);
    CUdeviceptr p = l_place(owners), q = l_place("01"), at = p + G - half, mine = q + (seam->ctx ? G : 0);
    for (size_t i = 0; i <= strlen(seam->rights); i++)
        rights[i] = seam->rights[i] == 'd' ? (char)('0' + seam->ctx) : seam->rights[i];
    l_give(p, G, "03+13");
    l_give(q, 2 * G, "03+13");
    l_on(seam->ctx);
    CUresult r = l_give(p + G, G, rights), done;
    switch (seam->what) {
    case 0: done = cuMemsetD8(at, 0x22, 2 * half); break;
    case 1: done = cuMemcpyHtoD(at, buffer, 2 * half); break;
    case 2: done = cuMemcpyDtoH(buffer, at, 2 * half); break;
    case 3: done = cuMemcpyDtoD(at, mine, 2 * half); break;
    default: done = cuMemcpyDtoD(mine, at, 2 * half); break;
    }
    CUresult sync = cuCtxSynchronize();
    say(id, "%s %s sync=%s", name_of(r), name_of(done), name_of(sync));
    l_end(p);
    l_end(q);
}

/* Fills in every arrangement; few copies, because they crash the process. */
static void q_fill(size_t i, char *id, int run)
{
    const struct q_seam seam = {(int)(i & 1), (int)(i >> 1 & 1), i >> 2 & 1 ? '1' : '0', q_rights[i / 8], 0};
    q_ask_seam(&seam, id, run);
}

static void q_copy(size_t i, char *id, int run)
{
    const struct q_seam seam = {(int)(i & 1), 0, i >> 1 & 1 ? '1' : '0', q_rights[i / 4 % 4], 1 + (unsigned)(i / 16)};
    q_ask_seam(&seam, id, run);
}

static void group_q(void)
{
    if (!is_wanted("Q") || !l_two())
        return;
    child("Q.free!", q_free);
    run_cases(l_init, 8 * COUNT(q_rights), q_fill);
    run_cases(l_init, 16 * (COUNT(m_what) - 1), q_copy);
}
