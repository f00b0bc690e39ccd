#include "save.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

static bool fill(const char *path, void (*write)(FILE *out, void *user), void *user)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    write(out, user);
    bool whole = fflush(out) == 0 && !ferror(out);
    int why = errno;
    whole = fclose(out) == 0 && whole;
    errno = whole ? errno : why;
    return whole;
}

/* Takes the name, so that nothing which came meanwhile is replaced. */
static bool take_name(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd >= 0 && close(fd) == 0;
}

static bool put(const char *aside, const char *path, bool force, FILE *err)
{
    bool taken = !force && take_name(path);
    if (!force && !taken && errno == EEXIST) {
        fprintf(err, "  %s is there already and stays as it is; another name, or --force to replace it\n", path);
        return false;
    }
    if ((force || taken) && rename(aside, path) == 0)
        return true;
    fprintf(err, "  %s cannot be written: %s\n", path, strerror(errno));
    if (taken)
        unlink(path);
    return false;
}

bool save_file(const char *path, bool force, void (*write)(FILE *out, void *user), void *user, FILE *err)
{
    struct text aside = {0};
    text_add(&aside, "%s.%ld", path, (long)getpid());
    bool whole = fill(aside.data, write, user), ok = whole && put(aside.data, path, force, err);
    if (!whole)
        fprintf(err, "  %s cannot be written: %s\n", path, strerror(errno));
    if (!ok)
        unlink(aside.data);
    text_free(&aside);
    return ok;
}
