//go:build unix

package flows

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"coffer/ui/e2e/rig"
)

// TestL3_AProfileGivesItsQuotesMoreTime: those of the service inside the program live as long as the profile says.
func TestL3_AProfileGivesItsQuotesMoreTime(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	configured := filepath.Join(dir, "config", "coffer", "config.toml")
	for text, want := range map[string]time.Duration{"": time.Minute,
		"quote_lifetime = \"150s\"\n": 150 * time.Second} {
		text = "version = 1\n[profiles.demo]\nkind = \"embedded\"\nvault = \"memory\"\n" + text
		if err := errors.Join(os.MkdirAll(filepath.Dir(configured), 0o700),
			os.WriteFile(configured, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		out, errs, code := rig.Run(t, env, "swap", "--asset", "usdc", "--amount", "5", "--for", "eth@base", "--dry-run",
			"--json")
		after := time.Now()
		found := regexp.MustCompile(`"expirationTimestamp":"(\d+)"`).FindStringSubmatch(out)
		if code != 0 || found == nil {
			t.Fatalf("code %d, %s%s", code, out, errs)
		}
		at, _ := strconv.ParseInt(found[1], 10, 64)
		if early, late := before.Add(want).Unix(), after.Add(want).Unix(); at < early || at > late {
			t.Errorf("a quote ends at %d, not from %d to %d, with\n%s", at, early, late, text)
		}
	}
}
