//go:build unix

package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// checkMode refuses a file that somebody else may write, or whose directory they may write without the sticky bit:
// whoever can change the limits can lift them (TH-C3). The mode of the file is that of the open one.
func checkMode(path string, f *os.File) error {
	file, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	for _, at := range []struct {
		path string
		info os.FileInfo
	}{{path, file}, {filepath.Dir(path), dir}} {
		sticky := at.info.IsDir() && at.info.Mode()&os.ModeSticky != 0
		if at.info.Mode().Perm()&0o022 != 0 && !sticky {
			return &Error{Path: at.path, Problem: fmt.Sprintf("others may write here (mode %o); run: chmod go-w %q",
				at.info.Mode().Perm(), at.path)}
		}
		if s, ok := at.info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
			return &Error{Path: at.path, Problem: "this belongs to another user, who may change it at any time"}
		}
	}
	return nil
}
