//go:build unix

package keys

import (
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

const ownPass = "a phrase of many letters"

// TestD16_OneCommandFromNothingToAnAccount: the built program in an empty home, and what it made can be used at once.
func TestD16_OneCommandFromNothingToAnAccount(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	screen, err := rig.Asks(t, env, []string{"setup", "--yes", "--profile", "mine"}, "New passphrase of profile mine",
		ownPass, "once more", ownPass)
	if err != nil || !strings.Contains(screen, "profile  mine is set up") {
		t.Fatalf("%v\n%s", err, screen)
	}
	account, _, _ := strings.Cut(screen[strings.Index(screen, "account  ")+len("account  "):], " ")
	for _, args := range [][]string{{"accounts", "list"}, {"accounts", "check"}} {
		if out, errs, code := rig.Run(t, env, args...); code != 0 || !strings.Contains(out, account) {
			t.Errorf("%v: %d\n%s%s", args, code, out, errs)
		}
	}
	if out, errs, code := rig.Run(t, env, "balances"); code != 0 || !strings.Contains(out, "$") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}

// TestL8_ADumbTerminalGetsTheSetUpLineByLine: without being asked for, in ASCII, and without one control sequence.
func TestL8_ADumbTerminalGetsTheSetUpLineByLine(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"TERM=dumb": {"setup"}, "TERM=xterm": {"--linear", "setup"}} {
		_, env := rig.Home(t)
		screen, err := rig.Asks(t, append(env, name, "LANG=C"), args, "Name of the profile", "mine",
			"Where does it live?", "inside", "keep its keys?", "file", "New passphrase", ownPass, "once more", ownPass,
			"Whose key signs?", "1", "Which account", "smart", "no other profile", "yes", "Write it down?", "yes",
			"Open it now?", "no")
		if err != nil || !strings.Contains(screen, "profile  mine is set up") ||
			strings.ContainsFunc(screen, func(r rune) bool { return r > '~' }) ||
			strings.Contains(screen, "step 1 of") {
			t.Errorf("%s: %v\n%s", name, err, screen)
		}
	}
}
