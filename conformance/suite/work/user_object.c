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
    ACCEPTED(vmm_graph_release_user_object(S, graph, object, 2));
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_graph_destroy(S, clone));
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    CHECK_U64((uint64_t)calls, 1);
}

/* An instance has one reference, however many its graph has; an update gives it one. */
TEST_EXPECTS("graph.holds_its_references", references_of_instances)
{
    int calls = 0, later = 0;
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    vmm_graph_exec_update_result_info info;
    ACCEPTED(vmm_graph_add_empty_node(S, &node, graph, NULL, 0));
    vmm_user_object object = object_of(f, &calls, 3), second = object_of(f, &later, 1);
    ACCEPTED(vmm_graph_retain_user_object(S, graph, object, 2, VMM_GRAPH_USER_OBJECT_MOVE));
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(vmm_graph_retain_user_object(S, graph, second, 1, VMM_GRAPH_USER_OBJECT_MOVE));
    ACCEPTED(vmm_graph_exec_update(S, exec, graph, &info));
    ACCEPTED(vmm_graph_destroy(S, graph));
    ACCEPTED(vmm_user_object_release(S, object, 1));
    CHECK_U64((uint64_t)(calls + later), 0);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    CHECK_U64((uint64_t)calls, 1);
    CHECK_U64((uint64_t)later, 1);
}

TEST_EXPECTS("graph.update_gives_references_back", references_of_an_updated_instance)
{
    int calls = 0;
    vmm_graph graph = made(f);
    vmm_graph_node node = NULL;
    vmm_graph_exec exec = NULL;
    vmm_graph_exec_update_result_info info;
    ACCEPTED(vmm_graph_add_empty_node(S, &node, graph, NULL, 0));
    vmm_user_object object = object_of(f, &calls, 1);
    ACCEPTED(vmm_graph_retain_user_object(S, graph, object, 1, VMM_GRAPH_USER_OBJECT_MOVE));
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    ACCEPTED(vmm_graph_release_user_object(S, graph, object, 1));
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_graph_exec_update(S, exec, graph, &info));
    CHECK_U64((uint64_t)calls, 1);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    CHECK_U64((uint64_t)calls, 1);
    ACCEPTED(vmm_graph_destroy(S, graph));
}

static void give_back(struct fix *f, vmm_user_object object, unsigned references, vmm_graph graph)
{
    ACCEPTED(vmm_user_object_release(S, object, references));
    ACCEPTED(vmm_graph_destroy(S, graph));
}

/* All references are one number, and the object ends when that is 0; passing 0 does not end it. */
TEST_WARNS(USER_OBJECT_OWNED, release_more_than_there_are)
{
    int calls = 0;
    vmm_graph graph = made(f), clone = NULL;
    fix_need_simulator(f, "a driver's process may end when a graph has an object that is gone");
    vmm_user_object object = object_of(f, &calls, 1);
    ACCEPTED(vmm_graph_retain_user_object(S, graph, object, 1, 0));
    WARNED(vmm_user_object_release(S, object, 2), INVALID_VALUE, "count", 2);
    if (test_refuses(f, NULL)) {
        give_back(f, object, 1, graph);
        CHECK_U64((uint64_t)calls, 1);
        return;
    }
    CHECK_U64((uint64_t)calls, 1);
    ACCEPTED(vmm_graph_clone(S, &clone, graph));
    ACCEPTED(vmm_graph_destroy(S, clone));
    ACCEPTED(vmm_graph_destroy(S, graph));
    CHECK_U64((uint64_t)calls, 1);
    object = object_of(f, &calls, 1);
    WARNED(vmm_user_object_release(S, object, 2), INVALID_VALUE, "count", 2);
    CHECK_U64((uint64_t)calls, 1);
    ACCEPTED(vmm_user_object_retain(S, object, 1));
    CHECK_U64((uint64_t)calls, 2);
}

/* What a graph owes, a copy owes as well, and its end gives it back; an instance has one reference all the same. */
TEST_WARNS(USER_OBJECT_OWNED, graphs_that_owe_references)
{
    int calls = 0;
    vmm_graph graph = made(f), clone = NULL;
    vmm_graph_exec exec = NULL;
    fix_need_simulator(f, "a driver's process may end when a graph has an object that is gone");
    vmm_user_object object = object_of(f, &calls, 3);
    WARNED(vmm_graph_release_user_object(S, graph, object, 1), INVALID_VALUE, "count", 1);
    if (test_refuses(f, NULL)) {
        give_back(f, object, 3, graph);
        CHECK_U64((uint64_t)calls, 1);
        return;
    }
    ACCEPTED(vmm_graph_clone(S, &clone, graph));
    ACCEPTED(vmm_graph_destroy(S, clone));
    ACCEPTED(vmm_user_object_release(S, object, 1));
    CHECK_U64((uint64_t)calls, 0);
    ACCEPTED(vmm_graph_clone(S, &clone, graph));
    CHECK_U64((uint64_t)calls, 1);
    ACCEPTED(vmm_graph_destroy(S, clone));
    ACCEPTED(vmm_graph_destroy(S, graph));
    graph = made(f);
    object = object_of(f, &calls, 1);
    WARNED(vmm_graph_release_user_object(S, graph, object, 2), INVALID_VALUE, "count", 2);
    ACCEPTED(vmm_graph_instantiate(S, &exec, graph, 0));
    CHECK_U64((uint64_t)calls, 2);
    ACCEPTED(vmm_graph_exec_destroy(S, exec));
    ACCEPTED(vmm_graph_destroy(S, graph));
    CHECK_U64((uint64_t)calls, 2);
}

TEST_WARNS(USER_OBJECT_OWNED, move_more_than_there_are)
{
    int calls = 0;
    vmm_graph graph = made(f);
    fix_need_simulator(f, "a driver's process may end when a graph has an object that is gone");
    vmm_user_object object = object_of(f, &calls, 1);
    WARNED(vmm_graph_retain_user_object(S, graph, object, 2, VMM_GRAPH_USER_OBJECT_MOVE), INVALID_VALUE, "count", 2);
    CHECK_U64((uint64_t)calls, 0);
    if (test_refuses(f, NULL)) {
        give_back(f, object, 1, graph);
        CHECK_U64((uint64_t)calls, 1);
        return;
    }
    ACCEPTED(vmm_graph_release_user_object(S, graph, object, 1));
    CHECK_U64((uint64_t)calls, 1);
    ACCEPTED(vmm_graph_destroy(S, graph));
    CHECK_U64((uint64_t)calls, 1);
}

TEST_NEAR_MISS(USER_OBJECT_OWNED, release_what_there_is)
{
    int calls = 0;
    vmm_graph graph = made(f);
    vmm_user_object object = object_of(f, &calls, 2);
    ACCEPTED(vmm_graph_retain_user_object(S, graph, object, 2, VMM_GRAPH_USER_OBJECT_MOVE));
    ACCEPTED(vmm_graph_release_user_object(S, graph, object, 2));
    CHECK_U64((uint64_t)calls, 1);
    ACCEPTED(vmm_graph_destroy(S, graph));
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
