/* SPDX-License-Identifier: Apache-2.0 */
/* user_object.h - data of the program that graphs hold references to. Part of vmm.h, which states the conventions.
 *
 *   create O, 1 reference        1
 *   graph G retains O            2     a copy of G, and an instance of it, holds as many as G
 *   release O                    1
 *   G is destroyed               0     destroy(ptr) is called
 *
 * destroy is called by the call that ends the last reference, before that returns, and not under a lock; it should make no calls
 * (Documents: it may not). What has references when the system is closed is not destroyed.
 */
#ifndef CUVMM_VMM_USER_OBJECT_H
#define CUVMM_VMM_USER_OBJECT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC 1 /* nothing waits for destroy; the only flag of a creation, and needed */
#define VMM_GRAPH_USER_OBJECT_MOVE 1         /* the references become the graph's */

/* A user object with initial_refcount references, 1 or more. INVALID_VALUE [VMM-GRAPH-NULL] for no output or no destroy,
 * [VMM-GRAPH-FLAGS, VMM-USER-OBJECT]. cuUserObjectCreate. */
VMM_API vmm_result vmm_user_object_create(vmm_system *sys, vmm_user_object *object_out, void *ptr, vmm_host_fn destroy,
                                          unsigned int initial_refcount, unsigned int flags);
/* count references more, or fewer, 1 or more. A release of more references than there are is accepted, and changes nothing (580).
 * INVALID_VALUE [VMM-USER-OBJECT]. cuUserObjectRetain, cuUserObjectRelease. */
VMM_API vmm_result vmm_user_object_retain(vmm_system *sys, vmm_user_object object, unsigned int count);
VMM_API vmm_result vmm_user_object_release(vmm_system *sys, vmm_user_object object, unsigned int count);

/* Gives the graph count references more to the object, with VMM_GRAPH_USER_OBJECT_MOVE of those that there are; and takes count
 * away, or as many as the graph has. INVALID_VALUE [VMM-GRAPH-FLAGS, VMM-USER-OBJECT, VMM-GRAPH-UNKNOWN]. cuGraphRetainUserObject,
 * cuGraphReleaseUserObject. */
VMM_API vmm_result vmm_graph_retain_user_object(vmm_system *sys, vmm_graph graph, vmm_user_object object, unsigned int count,
                                                unsigned int flags);
VMM_API vmm_result vmm_graph_release_user_object(vmm_system *sys, vmm_graph graph, vmm_user_object object, unsigned int count);

#ifdef __cplusplus
}
#endif

#endif
