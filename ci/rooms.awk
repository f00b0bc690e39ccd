# SPDX-License-Identifier: Apache-2.0
# Writes each room of ci/rooms as ROOM|ROOM|..., itself first and then what it sees, for the Makefile's -I lists.
function below(name) { return name ~ /\/$/ ? house[name] shown[name] : name in shown ? "|" name shown[name] : "|" name }
/^(#|$)/ { next }
{
    split($0, side, ":")
    rooms = split(side[1], room, " ")
    seen = ""
    for (i = split(side[2], right, " "); i > 0; i--) {
        if (sub(/^\+/, "", right[i]))
            shown[room[1]] = below(right[i]) shown[room[1]]
        seen = below(right[i]) seen
    }
    first = rooms > 1 ? 2 : 1
    for (i = first; i <= rooms; i++) {
        name = (rooms > 1 ? room[1] : "") room[i]
        print name seen
        seen = "|" name seen
        if (rooms > 1)
            house[room[1]] = "|" name house[room[1]]
    }
}
