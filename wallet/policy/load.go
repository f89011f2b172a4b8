package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"coffer/api/files"
)

// maxSize bounds a policy file, in bytes.
const maxSize = 1 << 20

// Load reads the policy file at path. No path and a file that is not there mean no limits; every other failure is an
// error. Use Read for a file that a person has named and that should be there.
func Load(path string) (File, error) {
	if path == "" {
		return File{}, nil
	}
	f, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	return f, err
}

// checkMode refuses a file that somebody else may write, or whose directory they may write without the sticky bit:
// whoever can change the limits can lift them (TH-C3). The mode of the file is that of the open one.
func checkMode(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	if problem := files.Changeable(path, info); problem != "" {
		return &Error{Path: path, Problem: problem}
	}
	if problem := files.Changeable(filepath.Dir(path), dir); problem != "" {
		return &Error{Path: filepath.Dir(path), Problem: problem}
	}
	return nil
}

// Read reads the policy file at path, which must exist. Errors of the content and of the mode are *Error; the others
// wrap those of package os.
func Read(path string) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return File{}, fmt.Errorf("read policy: %w", err)
	}
	if !info.Mode().IsRegular() {
		return File{}, &Error{Path: path, Problem: "this is no plain file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("read policy: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := checkMode(path, f); err != nil {
		return File{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return File{}, fmt.Errorf("read policy: %w", err)
	}
	if len(data) > maxSize {
		return File{}, &Error{Path: path, Problem: "larger than 1 MiB"}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return File{}, &Error{Path: path, Problem: fmt.Sprintf("the file is empty; a policy begins with version = %d",
			Version)}
	}
	return Parse(path, data)
}
