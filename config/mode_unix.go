//go:build unix

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// checkMode refuses a file or directory that another user may write: a user who can change the base URL or the network
// can change where keys and signatures go.
func checkMode(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(p)
		if err != nil {
			return fmt.Errorf("read configuration: %w", err)
		}
		sticky := info.IsDir() && info.Mode()&os.ModeSticky != 0
		if info.Mode().Perm()&0o022 != 0 && !sticky {
			return &Error{Path: p, Problem: fmt.Sprintf("others may write here (mode %o); run: chmod go-w %q",
				info.Mode().Perm(), p)}
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
			return &Error{Path: p, Problem: "this belongs to another user, who may change it at any time"}
		}
	}
	return nil
}
