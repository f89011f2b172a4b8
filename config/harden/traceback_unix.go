//go:build unix

package harden

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

const traceback = "GOTRACEBACK="

// quietTraceback starts this program again without GOTRACEBACK when it asks for more than the goroutine that failed: the other goroutines' arguments may be
// parts of keys, and "crash" asks for a core file. The runtime has read it by now and takes no lower level afterwards. The process, its arguments and its open
// files stay the same. Where the program cannot be started again it runs on.
func quietTraceback() {
	if asksForLittle(os.Environ()) {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	_ = syscall.Exec(self, os.Args, without(os.Environ())) //nolint:gosec // this program, with the arguments that it was given
}

// asksForLittle reports whether every GOTRACEBACK of an environment, if there is one, is at most the default.
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
