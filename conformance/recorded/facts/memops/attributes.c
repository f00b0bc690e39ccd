/* SPDX-License-Identifier: Apache-2.0 */
/* Group A: attributes of the devices, and which function each name and version stands for. Part of ../memops.c. */

static void attributes(void)
{
    static const int wanted_attributes[] = {92, 93, 94, 98, 117, 122, 123};
    int devices = 0;
    char id[CASE_ID];
    init();
    cuDeviceGetCount(&devices);
    for (int d = 0; d < devices && d < 2; d++)
        for (size_t i = 0; i < COUNT(wanted_attributes); i++) {
            int v = 99;
            CUresult r = cuDeviceGetAttribute(&v, (CUdevice_attribute)wanted_attributes[i], d);
            snprintf(id, sizeof id, "A.attribute.%d.device%d", wanted_attributes[i], d);
            say(id, "%s %d", name_of(r), v);
        }
}

/* The symbol that the pointer is; the forms of one name are the candidates. */
static const char *symbol_name(const char *name, void *found)
{
    static const char *const forms[] = {"", "_v2", "_ptsz", "_v2_ptsz"};
    static char text[64];
    for (size_t i = 0; i < COUNT(forms); i++) {
        snprintf(text, sizeof text, "%s%s", name, forms[i]);
        if (found && symbol_of(text) == found)
            return text;
    }
    return found ? "another" : "none";
}

static void proc_addresses(void)
{
    static const char *const names[] = {"cuStreamWriteValue32", "cuStreamWaitValue32", "cuStreamWriteValue64",
                                        "cuStreamWaitValue64", "cuStreamBatchMemOp"};
    static const int versions[] = {7050, 8000, 9000, 11060, 11070, 12000, 13000};
    char id[CASE_ID];
    init();
    for (size_t n = 0; n < COUNT(names); n++)
        for (size_t v = 0; v < COUNT(versions); v++)
            for (unsigned long long flags = 0; flags < 3; flags++) {
                void *f = NULL;
                CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)99;
                CUresult r = cuGetProcAddress(names[n], &f, versions[v], flags, &status);
                snprintf(id, sizeof id, "A.proc.%s.%d.%llu", names[n], versions[v], flags);
                say(id, "%s %s status=%d", name_of(r), symbol_name(names[n], f), (int)status);
            }
}

/* The same without a place for the status, and names of nothing. */
static void proc_addresses_not_found(void)
{
    static const char *const names[] = {"cuStreamWriteValue32", "cuStreamWriteValue32_v2", "cuNothing"};
    static const int versions[] = {7050, 8000, 11070};
    char id[CASE_ID];
    init();
    for (size_t n = 0; n < COUNT(names); n++)
        for (size_t v = 0; v < COUNT(versions); v++)
            for (int with = 0; with < 2; with++) {
                void *f = (void *)&f;
                CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)99;
                CUresult r = cuGetProcAddress(names[n], &f, versions[v], 0, with ? &status : NULL);
                snprintf(id, sizeof id, "A.proc.%s.%d.%s", names[n], versions[v], with ? "status" : "alone");
                say(id, "%s %s status=%d", name_of(r), f == (void *)&f ? "untouched" : f ? "found" : "NULL", (int)status);
            }
}

static void group_a(void)
{
    child("A.proc.not_found!", proc_addresses_not_found);
    child("A.attribute!", attributes);
    child("A.proc!", proc_addresses);
}
