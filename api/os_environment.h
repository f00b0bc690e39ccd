/* SPDX-License-Identifier: Apache-2.0 */
/* os_environment.h - the environment of the process, as far as it may be believed.
 *
 *   CUVMM_KERNELS=/home/eve/x.so  program                 "/home/eve/x.so"
 *   the same, and program has rights that eve has not     NULL: she would have those, through files and code of hers
 *
 * Every variable that the library heeds is asked for here, which ci/environment_test.sh sees to.
 */
#ifndef CUVMM_OS_ENVIRONMENT_H
#define CUVMM_OS_ENVIRONMENT_H

/* The value; NULL where there is none, or the program runs with rights that its caller has not (setuid, setgid, capabilities). */
const char *os_environment(const char *name);

#endif
