package keys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/config"
	"coffer/ui/cli"
)

// A payment without --profile uses the default profile: `profile add` makes the typed one the default, and names the
// default in every case.
func TestProfileAddMakesTheDefaultThatWasTypedAndSaysWhichItIs(t *testing.T) {
	for name, c := range map[string]struct {
		before, flag, want, says string
	}{
		"first, not typed": {"", "", "b", "The default profile is b now"},
		"first, yes":       {"", "--default", "b", "The default profile is b now"},
		"first, no": {"", "--default=false", "demo",
			"The default profile is still demo; to use b type --profile b."},
		"further, not typed": {"version = 1\ndefault = \"a\" # mine\n", "", "a",
			"The default profile is still a; to use b type --profile b."},
		"further, yes": {"version = 1\ndefault = \"a\" # mine\n", "--default", "b", "The default profile is b now"},
		"further, no": {"version = 1\ndefault = \"a\" # mine\n", "--default=false", "a",
			"The default profile is still a"},
		"none named, yes": {"version = 1 # keep\n", "--default", "b", "The default profile is b now"},
		"none named, not": {"version = 1 # keep\n", "", "demo", "The default profile is still demo"},
	} {
		for _, asJSON := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", JSON"}[asJSON], func(t *testing.T) {
				d := newDesk(t)
				const a = "\n# the first\n[profiles.a]   # by hand\nkind = \"embedded\"\nvault = \"memory\"\n"
				if c.before != "" {
					d.write("config.toml", []byte(c.before+a), 0o600)
				}
				args := []string{"profile", "add", "b", "--kind", "embedded", "--vault", "memory"}
				if c.flag != "" {
					args = append(args, c.flag)
				}
				says := c.says
				if asJSON {
					args, says = append(args, "--json"),
						map[bool]string{true: `"default":true`, false: `"default":false`}[c.want == "b"]
				}
				if code := d.run(args...); code != cli.ExitDone || !strings.Contains(d.out.String(), says) {
					t.Errorf("exit code %d, printed %s, said %s", code, &d.out, &d.said)
				}
				path := filepath.Join(d.dir, "config.toml")
				f, err := config.Load(path)
				raw, _ := os.ReadFile(path)
				if err != nil || f.Default != c.want || c.before != "" && !strings.Contains(string(raw), a) {
					t.Errorf("the default is %q, %v\n%s", f.Default, err, raw)
				}
				if strings.Contains(c.before, "# mine") &&
					!strings.Contains(string(raw), "default = \""+c.want+"\" # mine\n") {
					t.Errorf("the line changed beyond its value:\n%s", raw)
				}
			})
		}
	}
}
