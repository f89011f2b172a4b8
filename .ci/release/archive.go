package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// entry is a file of an archive. Its name has slashes and no directory in front.
type entry struct {
	name string
	mode fs.FileMode
	data []byte
}

// ordered sorts the entries by name and refuses one that is there twice.
func ordered(entries []entry) ([]entry, error) {
	out := slices.Clone(entries)
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	for i := range out[1:] {
		if out[i].name == out[i+1].name {
			return nil, fmt.Errorf("%s is there twice", out[i].name)
		}
	}
	return out, nil
}

// tarGz packs files below a directory. The order is that of the names; time, owner and modes are fixed, and the header
// of gzip is empty.
func tarGz(dir string, at time.Time, entries []entry) ([]byte, error) {
	list, err := ordered(entries)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, e := range list {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + e.name, Mode: int64(e.mode), Size: int64(len(e.data)),
			ModTime: at.Truncate(time.Second)}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}

// zipped is tarGz for Windows.
func zipped(dir string, at time.Time, entries []entry) ([]byte, error) {
	list, err := ordered(entries)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range list {
		h := &zip.FileHeader{Name: dir + "/" + e.name, Method: zip.Deflate, Modified: at.UTC().Truncate(time.Second)}
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return b.Bytes(), err
}

// sumsName is the name of the file with the digests.
const sumsName = "SHA256SUMS"

// sumFile is the content of SHA256SUMS, in the form that sha256sum -c reads.
func sumFile(dir string) ([]byte, error) {
	list, err := os.ReadDir(dir) // in the order of the names
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, f := range list {
		if f.Name() == sumsName {
			continue
		}
		data, err := os.ReadFile(dir + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return b.Bytes(), nil
}
