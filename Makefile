# Each target is the step of .ci/run with that name; nothing is defined here. `.ci/run STEP` does the same without make.
TARGETS := $(shell bash .ci/run list)

.PHONY: help $(TARGETS)

help:
	@bash .ci/run help

$(TARGETS):
	@bash .ci/run $@
