//go:build unix

package commands

import (
	"slices"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// TestL5_TheDoctorReportsWhateverIsWrong: the built program without a home directory, with a configuration that does
// not read and in a place that cannot be written prints a report with what to do, and no second error.
func TestL5_TheDoctorReportsWhateverIsWrong(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return slices.Contains(names, name)
		})
	}
	homes := []string{"HOME", "COFFER_CONFIG", "COFFER_DATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}
	for name, c := range map[string]struct {
		env  []string
		want []string
	}{
		"no home": {without(homes...), []string{"no home directory", "set HOME"}},
		"nowhere to write": {append(without("COFFER_DATA"), "COFFER_DATA=/dev/null/data"),
			[]string{"fix this first", "bad      data: /dev/null/data", "name another place with COFFER_DATA"}},
		"no such profile": {append(without(), "COFFER_PROFILE=nobody"),
			[]string{"there is no profile", "coffer profile list shows"}},
	} {
		out, errs, code := rig.Run(t, c.env, "doctor")
		for _, want := range append(c.want, "Terminal", "Program") {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing:\n%s", name, want, out)
			}
		}
		if code != 1 || errs != "coffer: something needs attention, see above\n" {
			t.Errorf("%s: code %d, %q", name, code, errs)
		}
	}
}
