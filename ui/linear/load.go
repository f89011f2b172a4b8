package linear

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"coffer/wallet/intent"
)

// maxFile bounds the size of a loaded file, in bytes.
const maxFile = 4 << 20

// load reads an intent, or a batch of the Safe Transaction Builder, from a file.
func (s *session) load(ctx context.Context) error {
	for {
		path, err := s.ask(ctx, question{text: "Which file? Type its path:"})
		if err != nil {
			return err
		}
		p, err := loadPlan(path)
		if err == nil {
			s.refresh(ctx)
			return s.planned(ctx, p, nil)
		}
		s.out.say("It was not loaded.")
		list := failuresOf(err)
		for _, f := range list {
			s.out.note(sentence(clean(f.String(), 400)))
		}
		if len(list) == 0 {
			s.out.note(sentence(clean(err.Error(), 400)))
		}
	}
}

// loadPlan reads the file as an intent, and else as a Safe batch.
func loadPlan(path string) (*plan, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, err
	}
	d, err := intent.ParseDraft(b)
	if err == nil {
		p := planOf(d)
		p.d.SlippageBps = cmp.Or(d.SlippageBps, intent.DefaultSlippageBps)
		if d.Kind == intent.KindCall {
			p.d.Kind = ""
		}
		p.follows = false
		return p, nil
	}
	if !bytes.Contains(b, []byte(`"transactions"`)) {
		return nil, err
	}
	if d, err = intent.FromSafe(b); err != nil {
		return nil, err
	}
	d.SlippageBps = intent.DefaultSlippageBps
	return &plan{d: d, follows: true, minutes: defaultMinutes}, nil
}

// readFile reads a regular file within a size limit.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if at, err := f.Stat(); err != nil || !at.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", path))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return b, err
}
