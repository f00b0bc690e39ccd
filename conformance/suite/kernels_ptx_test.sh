#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Is kernels/kernels.ptx made of kernels/kernels.cu as it is now? Its last line has the checksum of the sources (make ptx-device), and no
# line names a folder.
set -eu
echo 1..2
was=$(sed -n 's|^// of kernels.cu, norm.h, pattern.h: ||p' kernels/kernels.ptx)
is=$(cat kernels/kernels.cu kernels/norm.h kernels/pattern.h | cksum)
if [ "$was" = "$is" ]; then
    echo "ok 1 - kernels.ptx is of kernels.cu"
else
    echo "not ok 1 - kernels.ptx is of kernels.cu"
    echo "# run make ptx-device: the checksum was $was and is $is"
fi
if grep -n '"[^"]*/' kernels/kernels.ptx | sed 's/^/# /' | grep .; then
    echo "not ok 2 - it names no folder"
else
    echo "ok 2 - it names no folder"
fi
