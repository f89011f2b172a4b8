package compose

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"coffer/api"
	"coffer/wallet/intent"
)

// Document is a draft from a file. Sum is the checksum of a batch file, which is correct; "": the file has none.
type Document struct {
	Draft intent.Draft
	Safe  bool
	Sum   string
}

// ReadDocument reads an intent of this program, or a batch of the Safe Transaction Builder. A wrong checksum is an
// error; the broken rules of an error are present.Failures.
func ReadDocument(b []byte) (Document, error) {
	doc, err := api.ParseDocument(b, api.DefaultLimits())
	if err != nil {
		return Document{}, err
	}
	if _, batch := doc.At("/transactions"); !batch {
		d, err := intent.ParseDraft(b)
		if d.Kind == intent.KindCall {
			d.Kind = ""
		}
		return Document{Draft: d}, err
	}
	d, err := intent.FromSafe(b)
	if err != nil {
		return Document{}, err
	}
	d.SlippageBps = intent.DefaultSlippageBps
	sum, _ := doc.At("/meta/checksum")
	return Document{d, true, strings.TrimPrefix(strings.Trim(string(sum), `"`), "null")}, nil
}

// ReadFile reads a regular file of at most the size of a document.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%s may not be read by you", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadAll(f)
}

// ReadAll reads at most the size of a document.
func ReadAll(r io.Reader) ([]byte, error) {
	most := api.DefaultLimits().Bytes
	b, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(b) > most {
		return nil, errors.New("the file is larger than 4 MiB")
	}
	return b, err
}
