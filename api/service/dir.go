package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// checkDir refuses a data directory that everybody may write to: whoever can replace the database, the socket or the
// certificate authority in it owns the service (TH-C3). One that is not there yet is made with mode 0700.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("data directory: %w", err)
	case !info.IsDir():
		return fmt.Errorf("data directory: %s is not a directory", dir)
	case info.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("data directory: everybody may write to %s (mode %04o); make it yours alone: chmod 700 %q",
			dir, info.Mode().Perm(), dir)
	}
	return nil
}
