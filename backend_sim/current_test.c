#include "current.h"

#include <semaphore.h>

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

/* A thread with a context of its own, until it is let go. */
struct guest {
    struct current *current;
    uint64_t context;
    sem_t in, out;
    pthread_t thread;
    bool right;
};

static void *stays(void *user)
{
    struct guest *guest = user;
    pthread_mutex_lock(&lock);
    current_push(guest->current, guest->context);
    pthread_mutex_unlock(&lock);
    sem_post(&guest->in);
    sem_wait(&guest->out);
    pthread_mutex_lock(&lock);
    guest->right = current_get(guest->current) == guest->context;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void begin_guest(struct guest *guest, struct current *current, uint64_t context)
{
    *guest = (struct guest){.current = current, .context = context};
    sem_init(&guest->in, 0, 0);
    sem_init(&guest->out, 0, 0);
    if (pthread_create(&guest->thread, NULL, stays, guest))
        tap_bail("no thread");
    sem_wait(&guest->in);
}

static bool end_guest(struct guest *guest)
{
    sem_post(&guest->out);
    pthread_join(guest->thread, NULL);
    sem_destroy(&guest->in);
    sem_destroy(&guest->out);
    return guest->right;
}

/* Three threads come one after another and go in each order; the last one leaves nothing. */
static void threads_go(void)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct current current;
    struct guest guest[3];
    unsigned wrong = 0;
    current_init(&current, &lock);
    for (int i = 0; i < 6; i++) {
        for (uint64_t g = 0; g < 3; g++)
            begin_guest(&guest[g], &current, 100 + g);
        for (int g = 0; g < 3; g++) {
            wrong += !current.stacks;
            wrong += !end_guest(&guest[orders[i][g]]);
        }
        wrong += current.stacks != NULL;
    }
    tap_u64(wrong, 0, "threads that end take what is theirs with them, in each order");
    current_clear(&current);
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
    threads_go();
    return tap_done();
}
