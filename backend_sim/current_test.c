#include "current.h"

#include "tap.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *in_thread(void *user)
{
    struct current *current = user;
    pthread_mutex_lock(&lock);
    uint64_t before = current_get(current);
    current_push(current, 77);
    uint64_t after = current_get(current);
    pthread_mutex_unlock(&lock);
    return before == 0 && after == 77 ? user : NULL;
}

int main(void)
{
    struct current current;
    pthread_t thread;
    void *fine = NULL;
    current_init(&current, &lock);
    tap_u64(current_get(&current), 0, "a thread starts with none");
    tap_ok(current_set(&current, 0) && !current_get(&current), "popping nothing is fine");
    tap_ok(current_set(&current, 1) && current_get(&current) == 1, "set without a stack makes one");
    for (uint64_t i = 2; i < 12; i++)
        current_push(&current, i);
    tap_u64(current_get(&current), 11, "the last one pushed is current");
    tap_ok(current_set(&current, 50) && current_get(&current) == 50, "set replaces the top");
    tap_ok(current_set(&current, 0) && current_get(&current) == 10, "NULL pops it");
    pthread_create(&thread, NULL, in_thread, &current);
    pthread_join(thread, &fine);
    tap_ok(fine == &current, "another thread has its own");
    tap_u64(current_get(&current), 10, "and this one keeps its own");
    current_clear(&current);
    tap_ok(!current.stacks, "cleared");
    return tap_done();
}
