# A machine of tomorrow, made up: its granularity is 4 MiB, so that what takes 2 MiB for granted is refused.
base = h100
name = coarse
granularity.device.minimum = 4MiB
granularity.device.recommended = 16MiB
va.granularity = 4MiB
va.chunk = 0
va.context = 0
va.start = 0x100000000000
va.end = 0x600000000000
va.taken = none
