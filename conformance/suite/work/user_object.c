/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: who has references to them, and when they are destroyed. */
#include "test.h"

static void count_call(void *user)
{
    ++*(int *)user;
}

static vmm_user_object object_of(struct fix *f, int *calls, unsigned references)
{
    vmm_user_object object = NULL;
    ACCEPTED(vmm_user_object_create(S, &object, calls, count_call, references, VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

static vmm_graph made(struct fix *f)
{
    vmm_graph graph = NULL;
    ACCEPTED(vmm_graph_create(S, &graph, 0));
    return graph;
}

TEST_BREAKS(USER_OBJECT, references_of_nothing)
{
    int calls = 0;
    vmm_user_object object = NULL;
    vmm_graph graph = made(f);
    REFUSED(vmm_user_object_create(S, &object, &calls, count_call, 0, VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC), INVALID_VALUE, NULL, 0);
    CHECK(!object, "there is no object");
    object = object_of(f, &calls, 1);
    REFUSED(vmm_user_object_retain(S, object, 0), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_user_object_release(S, object, 0), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_retain_user_object(S, graph, object, 0, 0), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_release_user_object(S, graph, object, 0), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_user_object_retain(S, NULL, 1), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_graph_retain_user_object(S, graph, NULL, 1, 0), INVALID_VALUE, NULL, 0);
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_user_object_release(S, object, 1));
    CHECK_U64((uint64_t)calls, 1);
    fix_need_simulator(f, "a driver may read through an object that has ended");
    REFUSED(vmm_user_object_release(S, object, 1), INVALID_VALUE, NULL, (uintptr_t)object);
    REFUSED(vmm_graph_release_user_object(S, graph, object, 1), INVALID_VALUE, NULL, (uintptr_t)object);
    object = object_of(f, &calls, 1);
    REFUSED(vmm_graph_retain_user_object(S, graph, object, 2, VMM_GRAPH_USER_OBJECT_MOVE), INVALID_VALUE, NULL, (uintptr_t)object);
    ACCEPTED(vmm_user_object_release(S, object, 1));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

TEST_NEAR_MISS(USER_OBJECT, references_of_graphs_and_of_copies)
{
    int calls = 0;
    vmm_graph graph = made(f), clone = NULL;
    vmm_graph_exec exec = NULL;
    vmm_user_object object = object_of(f, &calls, 1);
    ACCEPTED(vmm_user_object_retain(S, object, 1));
    ACCEPTED(vmm_graph_retain_user_object(S, graph, object, 1, VMM_GRAPH_USER_OBJECT_MOVE));
    ACCEPTED(vmm_graph_retain_user_object(S, graph, object, 1, 0));
    ACCEPTED(vmm_graph_clone(S, &clone, graph));
    ACCEPTED(vmm_graph_instantiate(S, &exec, clone, 0));
    ACCEPTED(vmm_user_object_release(S, object, 1));
    ACCEPTED(vmm_graph_release_user_object(S, graph, object, 5));
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_graph_destroy(S, clone));
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    CHECK_U64((uint64_t)calls, 1);
}

/* What graphs have is not the program's to release. */
TEST_EXPECTS("graph.holds_its_references", release_more_than_there_are)
{
    int calls = 0;
    vmm_graph graph = made(f);
    vmm_user_object object = object_of(f, &calls, 1);
    ACCEPTED(vmm_user_object_release(S, object, 2));
    CHECK_U64((uint64_t)calls, 0);
    fix_need_simulator(f, "whose references a driver releases is not recorded");
    ACCEPTED(vmm_graph_retain_user_object(S, graph, object, 1, 0));
    ACCEPTED(vmm_user_object_release(S, object, 2));
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_user_object_release(S, object, 1));
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_graph_destroy(S, graph));
    CHECK_U64((uint64_t)calls, 1);
}

TEST_BREAKS(GRAPH_NULL, user_objects_for_nobody)
{
    int calls = 0;
    vmm_user_object object = NULL;
    REFUSED(vmm_user_object_create(S, NULL, &calls, count_call, 1, VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC), INVALID_VALUE, NULL, 0);
    REFUSED(vmm_user_object_create(S, &object, &calls, NULL, 1, VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC), INVALID_VALUE, NULL, 0);
}

TEST_BREAKS(GRAPH_FLAGS, user_objects_with_flags_of_nothing)
{
    int calls = 0;
    vmm_user_object object = NULL;
    vmm_graph graph = made(f);
    REFUSED(vmm_user_object_create(S, &object, &calls, count_call, 1, 0), INVALID_VALUE, "flags", 0);
    object = object_of(f, &calls, 1);
    REFUSED(vmm_graph_retain_user_object(S, graph, object, 1, 2), INVALID_VALUE, "flags", 2);
    ACCEPTED(vmm_user_object_release(S, object, 1));
    CHECK_U64((uint64_t)calls, 1);
    ACCEPTED(vmm_graph_destroy(S, graph));
}
