package policy

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"coffer/api/files"
)

// maxSize bounds a policy file, in bytes.
const maxSize = 1 << 20

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
