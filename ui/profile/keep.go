package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coffer/api/files"
	"coffer/api/pattern"
)

// Folder keeps one small document per name in a directory (0700), each in its own file (0600) that is replaced as a
// whole.
type Folder struct{ Dir string }

var documentName = pattern.New(`^[a-z0-9][a-z0-9-]{0,60}(\.[a-z0-9]{1,8})?$`)

// ErrName is the error of a name that is not lower-case letters, digits and dashes with at most one suffix.
var ErrName = errors.New("the name of a document is lower-case letters, digits and dashes, and at most one suffix")

// Load returns the document, or nil when it does not exist.
func (f Folder) Load(name string) ([]byte, error) {
	if !documentName.MatchString(name) {
		return nil, ErrName
	}
	b, err := os.ReadFile(filepath.Join(f.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Save replaces the document. After a crash the file has the old one or the new one, never a part.
func (f Folder) Save(name string, data []byte) error {
	if !documentName.MatchString(name) {
		return ErrName
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return err
	}
	return files.Replace(filepath.Join(f.Dir, name), ".new-*", data)
}

// Export writes a new file of the name; when the file exists, a number goes before the suffix. It returns the path.
func (f Folder) Export(name string, data []byte) (string, error) {
	if !documentName.MatchString(name) {
		return "", ErrName
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return "", err
	}
	suffix := filepath.Ext(name)
	for n := 1; n < 10_000; n++ {
		path := filepath.Join(f.Dir, name)
		if n > 1 {
			path = filepath.Join(f.Dir, fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, suffix), n, suffix))
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if _, err = file.Write(data); err != nil {
			return "", errors.Join(err, file.Close(), os.Remove(path))
		}
		return path, errors.Join(file.Sync(), file.Close())
	}
	return "", fmt.Errorf("%s has ten thousand files of the name %s", f.Dir, name)
}
