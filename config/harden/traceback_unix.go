//go:build unix

package harden

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

const traceback = "GOTRACEBACK="

// quietTraceback starts this program again without GOTRACEBACK when it asks for more than the goroutine that failed:
// the arguments of the other goroutines may be parts of keys, and "crash" asks for a core file. The runtime has read
// the variable by now and accepts no lower level afterwards. The process, its arguments and its open files stay the
// same. When the restart fails the program runs on.
func quietTraceback() {
	if asksForLittle(os.Environ()) {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	_ = syscall.Exec(self, os.Args, without(os.Environ())) //nolint:gosec // this program, with its arguments
}

// asksForLittle reports whether every GOTRACEBACK of an environment asks for the default at most; an environment
// without one does.
func asksForLittle(env []string) bool {
	return !slices.ContainsFunc(env, func(e string) bool {
		level, found := strings.CutPrefix(e, traceback)
		return found && !slices.Contains([]string{"", "none", "single"}, level)
	})
}

// without is the environment without GOTRACEBACK.
func without(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, traceback) })
}
