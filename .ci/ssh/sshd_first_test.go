//go:build linux

package sshci

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TH-Z2, R2: the first login to an empty home shows the demo at once: no key, no keyring, no message bus, no question.
func TestSSHTheFirstStartNeedsNoKeyNoKeyringAndNoBus(t *testing.T) {
	t.Parallel()
	h := newHost(t, hostOptions{NoBus: true})
	p := h.opens(at{}, "coffer")
	p.sees("EMBEDDED", "demo", "USDC", "$", "1 Balances", "Lab")
	if !p.term.AltScreen() {
		t.Error("the dashboard does not use the alternate screen")
	}
	p.leaves()
	var made []string
	must(t, filepath.WalkDir(h.home, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			made = append(made, strings.TrimPrefix(path, h.home))
			if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s is for others too: %v, %v", path, info.Mode(), err)
			}
		}
		return err
	}))
	if files := strings.Join(made, " "); !strings.Contains(files, "/data/coffer/demo/") ||
		strings.Contains(files, "keys") || strings.Contains(files, "vault") {
		t.Errorf("the demo left %s", files)
	}
}
