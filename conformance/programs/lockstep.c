/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep - random calls on the simulator and on the reference model, side by side; options as in diff.h. */
#include "diff.h"

int main(int argc, char **argv)
{
    return diff_main(argc, argv, NULL, stderr);
}
