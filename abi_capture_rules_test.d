abi_capture_rules_test.o: \
  backend_sim/abi/capture/abi_capture_rules_test.c \
  backend_sim/abi/testing/rule_tests.h backend_sim/abi/testing/rig.h \
  api/abi/cuda.h api/abi/cuda_values.def api/abi/cuda_graph.h \
  api/abi/cuda_functions.h conformance/harness/tap.h api/vmm.h \
  api/results.def api/rules/library.def

backend_sim/abi/testing/rule_tests.h:

backend_sim/abi/testing/rig.h:

api/abi/cuda.h:

api/abi/cuda_values.def:

api/abi/cuda_graph.h:

api/abi/cuda_functions.h:

conformance/harness/tap.h:

api/vmm.h:

api/results.def:

api/rules/library.def:
