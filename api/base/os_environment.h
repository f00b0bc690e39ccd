/* SPDX-License-Identifier: Apache-2.0 */
/* os_environment.h - the environment of the process, as far as it can be trusted.
 *
 *   CUVMM_KERNELS=/home/eve/x.so  program                 "/home/eve/x.so"
 *   the same, and program has more rights than eve        NULL: else her files and code would run with these rights
 *
 * The library reads every variable through this function; ci/environment_test.sh checks that.
 */
#ifndef CUVMM_OS_ENVIRONMENT_H
#define CUVMM_OS_ENVIRONMENT_H

/* The value; NULL if it is not set, or if the program has more rights than its caller (setuid, setgid, capabilities). */
const char *os_environment(const char *name);

#endif
