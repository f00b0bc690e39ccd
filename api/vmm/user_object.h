/* SPDX-License-Identifier: Apache-2.0 */
/* user_object.h - program data that graphs hold references to. Part of vmm.h, which states the conventions.
 *
 *   create O, 1 reference        1
 *   graph G retains O twice      3
 *   G is copied                  5     a copy has as many as G
 *   G is instantiated            6     an instance has one, however many G has (580)
 *   release O                    5
 *   all three are destroyed      0     destroy(ptr) is called
 *
 * All references are counted in one number, and destroy is called when it reaches 0. A call that releases more references
 * than its owner has draws a warning [VMM-USER-OBJECT-OWNED] and still subtracts them (580): the object ends too early,
 * or, past 0, not at all. Refused in strict mode, INVALID_VALUE.
 *
 * The call that releases the last reference calls destroy before it returns, without holding a lock; destroy should make no
 * calls (Documents: it must not). An object that still has references when the system is closed is not destroyed.
 */
#ifndef CUVMM_VMM_USER_OBJECT_H
#define CUVMM_VMM_USER_OBJECT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC 1 /* nothing waits for destroy; the only flag of creation, and mandatory */
#define VMM_GRAPH_USER_OBJECT_MOVE 1         /* the program's references become the graph's */

/* A user object with initial_refcount references, 1 or more. INVALID_VALUE [VMM-GRAPH-NULL] for no output or no destroy,
 * [VMM-GRAPH-FLAGS, VMM-USER-OBJECT]. cuUserObjectCreate. */
VMM_API vmm_result vmm_user_object_create(vmm_system *sys, vmm_user_object *object_out, void *ptr, vmm_host_fn destroy,
                                          unsigned int initial_refcount, unsigned int flags);
/* Adds or releases count references of the program; count is at least 1. INVALID_VALUE [VMM-USER-OBJECT]. cuUserObjectRetain,
 * cuUserObjectRelease. */
VMM_API vmm_result vmm_user_object_retain(vmm_system *sys, vmm_user_object object, unsigned int count);
VMM_API vmm_result vmm_user_object_release(vmm_system *sys, vmm_user_object object, unsigned int count);

/* Gives the graph count more references to the object (with VMM_GRAPH_USER_OBJECT_MOVE, the program's own), or takes count
 * away. INVALID_VALUE [VMM-GRAPH-FLAGS, VMM-USER-OBJECT, VMM-GRAPH-UNKNOWN]. cuGraphRetainUserObject,
 * cuGraphReleaseUserObject. */
VMM_API vmm_result vmm_graph_retain_user_object(vmm_system *sys, vmm_graph graph, vmm_user_object object, unsigned int count,
                                                unsigned int flags);
VMM_API vmm_result vmm_graph_release_user_object(vmm_system *sys, vmm_graph graph, vmm_user_object object, unsigned int count);

#ifdef __cplusplus
}
#endif

#endif
