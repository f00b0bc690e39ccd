# What is made of the tree for others: lists of symbols, manual pages, completion, a tarball, packages; and the analysers.
# Included by the Makefile. docs/packaging.md tells more.

.PHONY: symbols-update

symbols-update: $(LIBSO) $(LIBCUDA) ## ci/symbols/ from the libraries: new names are written down, with the version they came in
	@mkdir -p ci/symbols
	ci/symbols-list $(LIBSO) ci/symbols/libcuvmm.txt $(VERSION) --update
	ci/symbols-list $(LIBCUDA) ci/symbols/libcuda.txt $(VERSION) --update
