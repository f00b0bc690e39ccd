# SPDX-License-Identifier: Apache-2.0
# Writes each room of ci/rooms as ROOM|ROOM|..., itself first and then what it sees, for the Makefile's -I lists.
/^(#|$)/ { next }
{
    split($0, side, ":")
    rooms = split(side[1], room, " ")
    seen = ""
    for (i = split(side[2], right, " "); i > 0; i--)
        seen = (right[i] ~ /\/$/ ? house[right[i]] : "|" right[i]) seen
    first = rooms > 1 ? 2 : 1
    for (i = first; i <= rooms; i++) {
        name = (rooms > 1 ? room[1] : "") room[i]
        print name seen
        seen = "|" name seen
        if (rooms > 1)
            house[room[1]] = "|" name house[room[1]]
    }
}
